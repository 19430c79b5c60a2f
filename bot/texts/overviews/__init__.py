"""Sentences of overviews: who can find something, what was said of a subject, and what is known of it."""
