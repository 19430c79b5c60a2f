"""Retrieve the context of a question: search, rank, fit the budget. Imports `projection`, `storage`, `llm`, `text`."""
