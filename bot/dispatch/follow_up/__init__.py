"""Whether a message that does not mention the bot asks it something. Pure rules over words."""
