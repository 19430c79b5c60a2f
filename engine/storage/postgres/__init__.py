"""PostgreSQL plumbing that the engine and the bot share: pools, transactions, schemas, errors, and values.

SQL functions are written once, for all databases: `engine/storage/sql/fragments.py`; `values` turns their parameters
into those of PostgreSQL. Needs the extra `postgres`, so only code that was given the address of a database imports this
package.
"""
