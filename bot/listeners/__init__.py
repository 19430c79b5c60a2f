"""What every listener of HTTP shares: who is let in, whose request it is, and a guarded server of aiohttp."""
