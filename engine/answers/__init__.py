"""From a context to a streamed, cited, safe answer. Imports `retrieval`, `llm`, `knowledge` and `text`."""
