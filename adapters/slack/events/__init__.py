"""What Slack reports: listeners, and the translation of its payloads into events of the bot.

Imports `workspace`, `replies`, and the adapter's `errors`, `context` and `platform`.
"""
