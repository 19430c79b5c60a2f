"""What a Slack workspace holds: channels, users, messages, history, files and markup.

Imports `adapters.common`, and the adapter's `errors`, `retries` and `context`.
"""
