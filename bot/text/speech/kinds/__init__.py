"""What kind of speech a message to the bot is: what introduces it, and what was learned from examples."""
