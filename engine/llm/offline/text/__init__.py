"""Words, word lists and sentences of the offline rules. Pure."""
