"""Answer questions: turn a retrieved context into a streamed, cited text. Imports `retrieval`, `llm` and `text`."""
