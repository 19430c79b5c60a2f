"""What the command line prints: progress, tables and hints. Imports `rich` and the results of `capabilities`."""
