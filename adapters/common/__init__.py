"""Code that adapters share: downloads, status reactions, bounded caches. Imports `bot.errors` and `bot.platform`."""
