"""Parse model replies tolerantly: tuples, JSON, shared calls, thinking. Pure."""
