"""Status reactions: one at a time, also after a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.common.reactions import StatusReactions

if TYPE_CHECKING:
    from bot.platform.ports import Reaction


class RecordingClient:
    """Records calls; reactions start with + (added) or - (removed)."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def add_reaction(self, channel: str, message: str, reaction: Reaction) -> None:
        self.calls.append(f"+{reaction} {channel}/{message}")

    async def remove_reaction(self, channel: str, message: str, reaction: Reaction) -> None:
        self.calls.append(f"-{reaction} {channel}/{message}")


async def test_a_reaction_replaces_the_one_before() -> None:
    client = RecordingClient()
    reactions = StatusReactions(client)
    await reactions.set("c", "1", "working")
    await reactions.set("c", "1", "working")
    await reactions.set("c", "1", "done")
    await reactions.set("c", "1", None)
    assert client.calls == ["+working c/1", "-working c/1", "+done c/1", "-done c/1"]


async def test_after_a_restart_the_message_is_assumed_to_bear_working() -> None:
    client = RecordingClient()
    await StatusReactions(client).set("c", "1", "failed")
    assert client.calls == ["-working c/1", "+failed c/1"]
