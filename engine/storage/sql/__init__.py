"""SQL plumbing that every database shares: connections, databases with group commit, schemas, topics, lists, times.

SQL functions are written once, in the dialect of SQLite with standard upserts; the connection of another database
translates them (`engine.storage.postgres.dialect`). Imports nothing of the engine but errors and scheduling.
"""
