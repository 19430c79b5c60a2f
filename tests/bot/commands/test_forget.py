"""Forgetting: who may have which document, message or person forgotten, and what is left."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from adapters.discord import settings as discord_settings
from adapters.slack import settings as slack_settings
from bot.commands.forget import candidate_message_ids, is_message_link, strip_link_markup
from bot.errors import NotAllowed
from bot.platform.models import Location
from engine.errors import InvalidQuestion, NotFound
from tests.bot.commands.conftest import ATTIC, Workspace
from tests.support.builders import ROOF

SLACK_LINK = "https://acme.slack.com/archives/C1/p1732099999123456?thread_ts=1732090000.000100&cid=C1"
DISCORD_LINK = "https://discord.com/channels/11/22/33"


@pytest.mark.parametrize(
    ("kind", "author", "place", "person", "error"),
    [
        ("title", "bob", ROOF, "bob", None),
        ("key", "cid", ROOF, "bob", NotAllowed),
        ("key", "cid", ROOF, "ada", None),
        ("title", "ada", ROOF, "bob in private", NotAllowed),
        ("title", "bob", ATTIC, "bob", NotFound),
        ("key", "bob", ATTIC, "bob", NotFound),
        ("link", "bob", ROOF, "bob", None),
        ("link", "cid", ROOF, "bob", NotAllowed),
        ("link", "cid", ROOF, "ada", None),
        ("link", "bob", ATTIC, "bob", NotFound),
        ("conversation", "bob", ROOF, "bob", NotAllowed),  # it is of several people
        ("conversation", "bob", ROOF, "ada", None),
    ],
)
async def test_authors_and_managers_forget_what_they_can_read(
    workspace: Workspace, kind: str, author: str, place: Location, person: str, error: type[Exception] | None
) -> None:
    if kind in {"title", "key"}:
        key = await workspace.share(author, "minutes.pdf", "The roof leaks.", place)
        words = key if kind == "key" else "Minutes.pdf"
    else:
        message = await workspace.post(author, "Mina sells tickets.", place)
        words = f"<{workspace.platform.message_link(place, message.id)}>"
        if kind == "conversation":
            await workspace.post("cid", "And cake.", place, window=message.id)
            words = f"{place.room}:window:{message.id}"
    here = workspace.platform.add_channel("DM", "bob", kind="direct") if person == "bob in private" else ROOF
    if error:
        with pytest.raises(error):
            await workspace.command(person[:3], f"forget {words}", here)
    else:
        await workspace.command(person, f"forget {words}", here)
    assert bool(await workspace.titles()) is bool(error)


async def test_it_says_what_was_forgotten(workspace: Workspace) -> None:
    await workspace.share("bob", "minutes.pdf", "The roof leaks.")
    text = await workspace.text("bob", "forget minutes.pdf")
    assert text == "Forgotten: **minutes.pdf** (1 passage, #roof)."
    message = await workspace.post("bob", "Mina sells tickets.")
    link = workspace.platform.message_link(ROOF, message.id)
    assert (await workspace.text("bob", f"forget {link}")).startswith("Forgotten: the message of 2026-11-20 10:01 UTC")


async def test_documents_of_one_title_are_told_apart_by_their_keys(workspace: Workspace) -> None:
    await workspace.share("ada", "minutes.pdf", "The roof leaks.")
    key = await workspace.share("ada", "minutes.pdf", "The roof is mended.", ATTIC)
    with pytest.raises(InvalidQuestion, match="matches 2 documents") as caught:
        await workspace.command("ada", "forget minutes.pdf")
    assert key in caught.value.hint


@pytest.mark.parametrize("line", ["forget me", "forget-me"])
async def test_a_person_can_be_forgotten_and_read_again(workspace: Workspace, line: str) -> None:
    await workspace.post("bob", "Mina sells tickets.")
    await workspace.share("bob", "minutes.pdf", "The roof leaks.")
    await workspace.post("ada", "It rains.")
    await workspace.command("bob", line)
    assert len(await workspace.titles()) == 1
    opt_outs = workspace.context.store.opt_outs
    assert await opt_outs.is_opted_out("slack", "T1", "bob")
    await workspace.command("bob", "remember-me")
    assert not await opt_outs.is_opted_out("slack", "T1", "bob")


async def test_nothing_to_forget_is_answered_with_an_example(workspace: Workspace) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        await workspace.command("bob", "forget")
    assert "/threadlore forget minutes.pdf" in caught.value.hint


@pytest.mark.parametrize("link", ["https://chat.example/T1/ROOF/m99", "https://elsewhere.example/x"])
async def test_a_link_that_leads_nowhere_is_not_found(workspace: Workspace, link: str) -> None:
    with pytest.raises(NotFound):
        await workspace.command("ada", f"forget {link}")


@pytest.mark.parametrize(
    ("words", "link"),
    [
        ("https://x.example/a", True),
        ("<https://x.example/a|a>", True),
        ("<https://x.example/a>", True),
        ("minutes.pdf", False),
        ("see https://x.example/a", False),
    ],
)
def test_a_link_is_told_from_a_title(words: str, *, link: bool) -> None:
    assert is_message_link(words) is link


def test_brackets_and_label_are_no_part_of_a_link() -> None:
    assert strip_link_markup("<https://x.example/a|the roof>") == "https://x.example/a"


@pytest.mark.parametrize(
    ("parse_part", "link", "message"),
    [
        (slack_settings.parse_link_part, SLACK_LINK, "1732099999.123456"),
        (discord_settings.TRAITS.parse_link_part, DISCORD_LINK, "33"),
    ],
    ids=["slack", "discord"],
)
def test_a_message_is_found_by_the_links_that_platforms_copy(
    parse_part: Callable[[str], str], link: str, message: str
) -> None:
    assert candidate_message_ids(link, parse_part)[0] == message


@pytest.mark.parametrize("link", ["https://[x/archives/C1/p1", "<https://x]/1>", "https://ａ℀/1"])
def test_a_broken_link_leads_to_no_message(link: str) -> None:
    assert candidate_message_ids(link, slack_settings.parse_link_part) == ()
