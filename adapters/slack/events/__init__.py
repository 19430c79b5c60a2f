"""What Slack reports: listeners, and the translation of its payloads into events of the bot.

Imports `api`, `workspace`, `replies`, and the adapter's `identity`, `context` and `platform`.
"""
