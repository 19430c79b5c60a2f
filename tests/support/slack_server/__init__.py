"""A Slack server on loopback for the real SDKs: it refuses what Slack refuses and renders what people see."""

from tests.support.slack_server.app import App
from tests.support.slack_server.fake_slack import FakeSlack
from tests.support.slack_server.methods.blocks import PayloadLimits
from tests.support.slack_server.methods.call import Fault, RateSettings
from tests.support.slack_server.people import File, NotOnScreen, Person, Room, SentMessage
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
