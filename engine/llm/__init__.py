"""Language models, embedders and rerankers, remote and offline.

Imports `text`, `scheduling`, the models, options and errors.
"""
