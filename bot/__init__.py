"""Threadlore: the chat bot, its settings and its command line."""
