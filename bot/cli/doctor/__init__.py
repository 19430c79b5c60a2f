"""The doctor command: checks of the machine and the data directory, each a function in a list."""
