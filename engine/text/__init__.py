"""Pure helpers for text: names, tokens, windows, time spans, streams. Imports models and errors only."""
