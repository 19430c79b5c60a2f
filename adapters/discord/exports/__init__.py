"""Channels that DiscordChatExporter wrote in other forms than JSON, as the messages that it writes as JSON."""
