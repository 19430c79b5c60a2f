"""The ledger in PostgreSQL: its schema, and what is not SQL of the repositories. They are those of SQLite."""
