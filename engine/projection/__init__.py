"""Keep profiles, graph and vectors in step with the facts of the ledger.

Imports `storage`, `llm`, `knowledge`, `scheduling`, `text`, the runtime, models, options and errors.
"""
