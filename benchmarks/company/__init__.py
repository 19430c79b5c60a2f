"""Questions about an invented company, answered by rules alone: `make bench-search`."""
