"""Who will find what an import brings is said before it starts."""

from __future__ import annotations

from typing import Literal

from bot.capabilities.ingest.history_import import TERMINAL_ALONE, describe_import_readers
from bot.permissions.import_destination import ImportDestination
from bot.platform.models import Channel, Location


def build(name: str, kind: Literal["open", "closed", "direct"] = "open", *, shared: bool = False) -> Channel:
    return Channel(Location("chat", "T1", name.upper()), name, kind, shared=shared)


CHANNELS = [build("mill"), build("quay"), build("board", "closed"), build("joint", shared=True), build("dm", "direct")]


def test_a_platform_that_the_bot_serves_says_itself_who_reads() -> None:
    assert describe_import_readers(CHANNELS, None, is_served=True) == (
        "Every full member of chat:T1 can find what is in 2 open channels. Only their own members can find what is in"
        " 2 other channels. Only the people in it can find what is in 1 direct conversation. Whoever uses this terminal"
        " can find all of it. A channel that the bot is not in stays closed until somebody adds it there."
    )


def test_without_a_destination_the_rest_stays_at_the_terminal() -> None:
    assert describe_import_readers(CHANNELS, None, is_served=False) == TERMINAL_ALONE


def test_a_destination_names_its_readers_and_what_is_left_out() -> None:
    destination = ImportDestination("talk", "W9", {"board": "C7"})
    assert describe_import_readers(CHANNELS, destination, is_served=False) == (
        "Every full member of talk:W9 can find what is in 2 open channels. Everyone in C7 can find what is in #board."
        " Whoever uses this terminal can find all of it. 2 channels without readers there are left out (--channel-map"
        " names them)."
    )
