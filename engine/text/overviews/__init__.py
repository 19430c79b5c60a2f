"""Requests for an overview, in the languages of the bot."""
