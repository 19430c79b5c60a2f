"""Slack with several workspaces and organizations, in which people install one app by OAuth."""

from tests.support.slack_server.distributed.browser import Browser, Page
from tests.support.slack_server.distributed.grants import Organization
from tests.support.slack_server.distributed.hub import Hub

__all__ = ["Browser", "Hub", "Organization", "Page"]
