"""Backup and restore of a data directory as one portable file. Imports the engine and the bot's store."""
