"""Backup and restore of a data folder as one portable file. Imports the engine and the bot's store."""
