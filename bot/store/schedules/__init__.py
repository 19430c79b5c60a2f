"""Tables of what is due at times that people chose."""
