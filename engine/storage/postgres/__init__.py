"""PostgreSQL plumbing that the engine and the bot share: pools, transactions, schemas, errors, and the SQL dialect.

SQL functions are written once, for SQLite; `dialect` translates their statements. Needs the extra `postgres`, so only
code that was given the address of a database imports this package.
"""
