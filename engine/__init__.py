"""The engine: documents in, cited answers out. It has never heard of chat."""
