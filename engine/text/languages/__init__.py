"""Languages of texts: which one a text is written in, and the stems of its words."""
