"""Answers and notices on Slack: rendering, streaming, private messages, recovery after a crash.

Imports `workspace`, and the adapter's `errors`, `retries` and `context`.
"""
