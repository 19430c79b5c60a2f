"""Installations of one app in many workspaces: the encrypted store.

Imports the adapter's `context`.
"""
