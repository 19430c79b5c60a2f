"""Runs the published LightRAG beside Threadlore on the same documents, vectors, extraction and keywords."""
