"""A fake of Discord on loopback: its REST API and gateway, the people in its guilds, and what they see."""

from tests.support.discord_server.model import Channel, File, Guild, Interaction, Message, Role
from tests.support.discord_server.people.person import Person
from tests.support.discord_server.people.screen import Post, Screen
from tests.support.discord_server.permissions import Permission
from tests.support.discord_server.server import FakeDiscord

__all__ = [
    "Channel",
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
