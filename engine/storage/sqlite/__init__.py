"""SQLite plumbing that the engine and the bot share: connections, transactions, errors, migrations.

Imports nothing of the engine but errors and scheduling.
"""
