"""Slash commands and buttons, acknowledged in time and queued. Imports `api`, `guild` and `replies`."""
