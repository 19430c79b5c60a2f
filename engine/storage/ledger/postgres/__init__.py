"""The ledger in PostgreSQL: its schema, and what is not SQL of the topics. They are those of SQLite."""
