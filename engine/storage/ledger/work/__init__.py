"""Pending work: chunks to embed or extract, stale keys, failures. Imports the ledger's tables."""
