"""Retrieval, start and memory in a large store: `python -m tests.bench.scale --documents 100000 --spaces 200`."""
