"""What a Discord server holds: channels, members' permissions, history, files and markup.

Imports the calls of `api`.
"""
