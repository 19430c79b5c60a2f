"""Reads of the ledger: search, filters, statistics, look-ups within a scope. Writes nothing."""
