"""What managers do outside of the chat, as commands do it, in the channels that they can read."""
