"""What a Slack workspace holds: channels, users, messages, history, files and markup.

Imports `adapters.common`, `api` and the adapter's `identity`.
"""
