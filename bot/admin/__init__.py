"""Operations behind the command line, also run for others over a local socket.

Imports the engine and the bot's store.
"""
