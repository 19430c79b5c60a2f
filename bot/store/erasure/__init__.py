"""What erasures take from the bot's tables, and the receipts that say so afterwards."""
