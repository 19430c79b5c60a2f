"""A person sees what is stored about them, and gets it as a file; nobody else's words are in it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from bot.commands.home import build_home_card
from bot.commands.overviews.my_data import FILE_NAME
from bot.store import Expert
from tests.bot.commands.conftest import ATTIC, Workspace
from tests.support.builders import ROOF, make_answer
from tests.support.fake_platform import START


async def fill(workspace: Workspace) -> None:
    first = await workspace.post("bob", "Mina sells tickets.")
    await workspace.post("cid", "And cake.", window=first.id)
    await workspace.post("bob", "The key is in the attic.", ATTIC)
    await workspace.share("bob", "minutes.pdf", "The roof leaks.")
    await workspace.context.store.answers.begin(replace(make_answer(), asker="bob", question="Who has the ladder?"))
    await workspace.context.store.experts.add(Expert(ROOF, "bob", "tiles"))


def read_lines(card: Any) -> list[dict[str, Any]]:
    assert card.picture.name == FILE_NAME
    return [json.loads(line) for line in card.picture.data.decode().splitlines()]


async def test_it_counts_by_channel_and_names_none_that_they_cannot_read(workspace: Workspace) -> None:
    await fill(workspace)
    text = await workspace.text("bob", "my-data")
    assert text.splitlines() == [
        "**What I know about you**",
        "- 1 message in #roof",
        "- 1 message elsewhere",
        "- 1 file",
        "- 1 question to me",
        "- You are asked as an expert about tiles.",
        "",
        "`/threadlore forget-me` deletes what you wrote, shared and asked, and stops me from reading more.",
    ]
    assert "attic" not in text.casefold()


async def test_the_file_has_their_own_words_and_nobody_elses(workspace: Workspace) -> None:
    await fill(workspace)
    lines = read_lines(await workspace.command("bob", "my-data download"))
    assert [line["kind"] for line in lines][:5] == ["message", "message", "file", "question", "expert"]
    texts = " ".join(line.get("text", "") for line in lines)
    assert "Mina sells tickets." in texts
    assert "The key is in the attic." in texts
    assert "Who has the ladder?" in texts
    assert "cake" not in json.dumps(lines)
    recorded = [line for line in lines if line["kind"] == "audit_entry"]
    assert {line["action"] for line in recorded} == {"export-my-data"}


async def test_of_whoever_is_forgotten_it_knows_that_alone(workspace: Workspace) -> None:
    await fill(workspace)
    await workspace.command("bob", "forget-me")
    text = await workspace.text("bob", "my-data")
    assert text.splitlines()[:2] == ["**What I know about you**", "Nothing."]
    assert "You asked me not to read your messages." in text
    lines = read_lines(await workspace.command("bob", "my-data download"))
    assert {line["kind"] for line in lines} == {"opt_out", "audit_entry"}


async def test_the_home_page_leads_there(workspace: Workspace) -> None:
    card = await build_home_card(workspace.context, "slack", "T1", "bob", START)
    assert [button.action for button in card.buttons] == ["my-data", "forget"]
