"""The command `init`: ask what to connect, check it, and write the settings."""
