"""Names in an excerpt: words that names are made of, types by cues, and what a name means in its excerpt. Pure."""
