"""Calls to Discord: retries, error mapping, endpoints and intents. Imports `bot.errors` and the Discord library."""
