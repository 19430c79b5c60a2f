"""A fake of Discord on loopback: its REST API and its gateway, the people in its guilds, and what they see."""

from tests.fakes.discord.model import Channel, File, Guild, Interaction, Kind, Message, Role
from tests.fakes.discord.people import Person
from tests.fakes.discord.permissions import Can
from tests.fakes.discord.screen import Post, Screen
from tests.fakes.discord.server import FakeDiscord

__all__ = [
    "Can",
    "Channel",
    "FakeDiscord",
    "File",
    "Guild",
    "Interaction",
    "Kind",
    "Message",
    "Person",
    "Post",
    "Role",
    "Screen",
]
