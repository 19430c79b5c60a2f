"""Keeps profiles, graph and vectors in step with the facts of the ledger.

Imports `storage`, `llm`, `knowledge` and `text`.
"""
