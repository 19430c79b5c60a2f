"""Documents to chunks, chunks to vectors and facts, in the background.

Imports `projection`, `llm`, `storage`, `knowledge` and `text`.
"""
