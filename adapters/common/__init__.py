"""Code that adapters share: downloads, status reactions, bounded caches, reading an adapter's settings.

Imports `bot.errors`, `bot.platform` and `bot.settings`.
"""
