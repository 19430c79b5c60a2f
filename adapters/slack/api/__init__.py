"""Calls to Slack: clients by retry policy, rate limits and error mapping.

Imports `bot.errors` and the Slack library.
"""
