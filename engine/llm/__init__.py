"""Everything that talks to a language model, embedder or reranker, with or without a network.

Imports `text` and the models.
"""
