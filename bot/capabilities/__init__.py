"""What the program does for the owner of the data, for people and for programs: requests, operations and results.

Imports the engine and the bot's store.
"""
