"""The command line: each command builds a request, and shows what comes of it."""
