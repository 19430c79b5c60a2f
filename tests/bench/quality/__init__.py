"""The quality of retrieval on public data sets: `python -m tests.bench.quality --data DATA`."""
