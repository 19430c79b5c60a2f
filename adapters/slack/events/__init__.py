"""What Slack reports: listeners, and the translation of its payloads into events of the bot.

Imports `workspace` and `replies`.
"""
