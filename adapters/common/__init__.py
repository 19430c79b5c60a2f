"""What adapters share. Imports nothing of the bot but its errors."""
