"""From a question to a ranked, budgeted context. Imports `projection`, `storage`, `llm`, `knowledge` and `text`."""
