"""The life of a fact: what was said about a subject in the order of time, and what repeats or replaces what."""
