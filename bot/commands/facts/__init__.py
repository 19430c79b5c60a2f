"""Commands about what is known of a subject."""
