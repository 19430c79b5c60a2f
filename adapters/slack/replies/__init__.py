"""Answers and notices on Slack: rendering, streaming, private messages, recovery after a crash.

Imports `api` and `workspace`.
"""
