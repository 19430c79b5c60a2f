"""What the bot's tables hold about a person, what erasures take from them, and the receipts that say so afterwards."""
