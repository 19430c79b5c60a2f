"""Calls to Slack: clients by retry policy, rate limits and error mapping.

Imports `bot.errors`, `bot.settings` and the Slack library; no other part of the adapter.
"""
