from __future__ import annotations

import pytest

from adapters.common.reactions import StatusReactions
from bot.platform.ports import Reaction


class RecordingClient:
    """Records calls: + adds a reaction, - removes it."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def add_reaction(self, channel: str, message: str, reaction: Reaction) -> None:
        self.calls.append(f"+{reaction} {channel}/{message}")

    async def remove_reaction(self, channel: str, message: str, reaction: Reaction) -> None:
        self.calls.append(f"-{reaction} {channel}/{message}")


@pytest.mark.parametrize(
    ("reactions", "calls"),
    [
        (["working", "working", "done", None], ["+working c/1", "-working c/1", "+done c/1", "-done c/1"]),
        (["failed"], ["-working c/1", "+failed c/1"]),  # "working" may be left from before a restart
    ],
)
async def test_a_reaction_replaces_the_one_before(reactions: list[Reaction | None], calls: list[str]) -> None:
    client = RecordingClient()
    status = StatusReactions(client)
    for reaction in reactions:
        await status.set("c", "1", reaction)
    assert client.calls == calls
