"""The words of requests for an overview, in the languages of the bot."""
