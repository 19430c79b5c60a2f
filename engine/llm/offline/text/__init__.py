"""Words, word lists and sentences for the offline rules. Pure."""
