"""The tables of the bot, and the scripts that made those of each version."""
