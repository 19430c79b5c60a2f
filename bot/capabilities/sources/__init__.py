"""Sources of documents outside of the chat: added, listed, read and removed."""
