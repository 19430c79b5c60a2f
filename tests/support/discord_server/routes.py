"""All routes of the API, gathered."""

from tests.support.discord_server import (
    about_routes,
    channel_routes,
    command_routes,
    interaction_routes,
    message_routes,
    reaction_routes,
    thread_routes,
    webhook_routes,
)
from tests.support.discord_server.routing import ROUTES

__all__ = [
    "ROUTES",
    "about_routes",
    "channel_routes",
    "command_routes",
    "interaction_routes",
    "message_routes",
    "reaction_routes",
    "thread_routes",
    "webhook_routes",
]
