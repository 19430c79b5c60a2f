"""The methods of the Web API; importing this package fills `call.METHODS`."""

from tests.support.slack_server.methods import app, chat, files, reading, streaming, views

__all__ = ["app", "chat", "files", "reading", "streaming", "views"]
