"""The quality of retrieval on public data sets: `python -m benchmarks.quality --data DATA`."""
