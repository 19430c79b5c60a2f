"""What a Discord server holds: channels, permissions, history and markup.

Imports `adapters.common`, and the adapter's `calls` and `translate`.
"""
