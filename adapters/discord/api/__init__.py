"""Calls to Discord: retries, error mapping, endpoints and intents.

Imports `bot.errors`, `bot.settings` and the Discord library; no other part of the adapter.
"""
