"""The durable queue of events, and whether a message is meant for the bot.

Imports `ingest`, `answers` and `permissions`.
"""
