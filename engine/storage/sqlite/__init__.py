"""SQLite plumbing that the engine and the bot share: connections, transactions, schemas, errors.

Imports nothing of the engine but errors and scheduling.
"""
