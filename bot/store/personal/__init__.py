"""What the bot's tables hold about one person."""
