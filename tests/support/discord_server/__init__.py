"""A fake of Discord on loopback: its REST API and its gateway, the people in its guilds, and what they see."""

from tests.support.discord_server.model import Channel, ChannelType, File, Guild, Interaction, Message, Role
from tests.support.discord_server.people import Person
from tests.support.discord_server.permissions import Permission
from tests.support.discord_server.screen import Post, Screen
from tests.support.discord_server.server import FakeDiscord

__all__ = [
    "Channel",
    "ChannelType",
    "FakeDiscord",
    "File",
    "Guild",
    "Interaction",
    "Message",
    "Permission",
    "Person",
    "Post",
    "Role",
    "Screen",
]
