"""What a Discord server holds: channels, permissions, history and markup.

Imports `adapters.common`, `api` and the adapter's `translate`.
"""
