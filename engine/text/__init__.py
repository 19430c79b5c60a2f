"""Pure text helpers: names, tokens, windows, times, streams. Imports the models and errors only."""
