"""Installations of one app in many workspaces: the pages, the encrypted store, and the workspaces that follow it.

Imports the adapter's `context`, `errors`, `settings` and `workspaces`.
"""
