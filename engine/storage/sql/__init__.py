"""SQL plumbing that every database shares: connections, databases with group commit, schemas, topics, lists, times.

SQL functions are written once, in the SQL that all databases read; what these write differently is named by
`fragments`. Imports nothing of the engine but errors and scheduling.
"""
