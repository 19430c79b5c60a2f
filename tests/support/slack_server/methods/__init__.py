"""The methods of the Web API; importing this package fills `call.METHODS`."""

from tests.support.slack_server.methods import (
    app,
    assistant,
    chat,
    conversations,
    files,
    reactions,
    streaming,
    usergroups,
    users,
    views,
)

__all__ = [
    "app",
    "assistant",
    "chat",
    "conversations",
    "files",
    "reactions",
    "streaming",
    "usergroups",
    "users",
    "views",
]
