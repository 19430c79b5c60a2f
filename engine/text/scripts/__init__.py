"""Scripts that need more than a search for spaces to find their words."""
