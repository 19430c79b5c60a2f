"""Slash commands and pressed buttons: acknowledged in time and queued.

Imports `replies`, and the adapter's `calls`, `settings`, `translate` and `platform`.
"""
