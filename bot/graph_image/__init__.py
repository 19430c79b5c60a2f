"""How a neighbourhood is drawn: which names, where they stand, in which letters and colours."""
