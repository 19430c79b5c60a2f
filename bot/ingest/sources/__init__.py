"""Documents of sources outside of the chat: who reads them, and how each source is kept up to date."""
