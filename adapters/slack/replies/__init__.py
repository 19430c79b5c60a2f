"""Answers and notices on Slack: rendering, streaming, private messages, recovery after a crash.

Imports `api`, `workspace`, and the adapter's `identity` and `context`.
"""
