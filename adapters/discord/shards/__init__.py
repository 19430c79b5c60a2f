"""Gateway connections (shards): which of them this process has, when each begins a session, and calls through them."""
