"""Pure text helpers: splitting, excerpts, Markdown, times, arguments. Imports nothing but the engine's records."""
