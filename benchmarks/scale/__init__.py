"""Retrieval, start and memory in a large store: `python -m benchmarks.scale --documents 100000 --spaces 200`."""
