"""A wire-level stand-in for Slack: the real SDKs speak to it; it enforces what Slack enforces."""

from tests.support.slack_server.app import App
from tests.support.slack_server.fake_slack import FakeSlack
from tests.support.slack_server.faults import Fault
from tests.support.slack_server.limits import PayloadLimits
from tests.support.slack_server.people import File, NotOnScreen, Person, Room, SentMessage
from tests.support.slack_server.rates import RateSettings
from tests.support.slack_server.screen import Entry, Screen
from tests.support.slack_server.socket import Timing

__all__ = [
    "App",
    "Entry",
    "FakeSlack",
    "Fault",
    "File",
    "NotOnScreen",
    "PayloadLimits",
    "Person",
    "RateSettings",
    "Room",
    "Screen",
    "SentMessage",
    "Timing",
]
