"""Turn documents into chunks, and chunks into vectors and facts, in the background.

Imports `projection`, `llm`, `storage`, `scheduling`, `text`, the runtime, models, options and errors.
"""
