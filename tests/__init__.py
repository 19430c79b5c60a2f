"""The tests: modules mirrored, contracts, stories, fakes."""
