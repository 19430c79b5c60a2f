"""Calls to Discord: retries, error mapping, endpoints and intents.

Imports `bot.errors`, `bot.settings`, the Discord library and the adapter's `settings`.
"""
