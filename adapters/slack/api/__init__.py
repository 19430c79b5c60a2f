"""Calls to Slack: clients by retry policy, rate limits and error mapping.

Imports `bot.errors`, `bot.settings`, the Slack library and the adapter's `settings`.
"""
