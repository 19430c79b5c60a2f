"""Slash commands and pressed buttons: acknowledged in time and queued.

Imports `api`, `replies`, and the adapter's `translate` and `platform`.
"""
