"""Connectors for places outside of the chat: folders, git repositories, websites and mailboxes."""
