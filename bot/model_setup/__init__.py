"""The models of the settings: their roles, what opens them, and their check."""
