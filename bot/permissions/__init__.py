"""Who may read what, and how much they may ask. Imports `platform`, `store` and the engine's scope."""
