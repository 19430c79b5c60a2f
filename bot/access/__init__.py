"""Who calls from outside of a chat, as whom, and what they may do."""
