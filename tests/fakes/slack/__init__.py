"""A wire-level stand-in for Slack: the real SDKs speak to it; it enforces what Slack enforces."""

from tests.fakes.slack.app import App
from tests.fakes.slack.fake import FakeSlack
from tests.fakes.slack.faults import Fault
from tests.fakes.slack.limits import Limits
from tests.fakes.slack.people import File, NotOnScreen, Person, Room, Said
from tests.fakes.slack.rates import Rates
from tests.fakes.slack.screen import Entry, Screen
from tests.fakes.slack.socket import Timing

__all__ = [
    "App",
    "Entry",
    "FakeSlack",
    "Fault",
    "File",
    "Limits",
    "NotOnScreen",
    "Person",
    "Rates",
    "Room",
    "Said",
    "Screen",
    "Timing",
]
