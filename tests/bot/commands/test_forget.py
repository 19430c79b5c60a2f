"""Forgetting: who may have which document, message or person forgotten, and what is left."""

from __future__ import annotations

import pytest

from bot.commands.context import CommandContext
from bot.commands.learn import learn_command
from bot.errors import NotAllowed
from bot.platform.events import CommandInvoked
from bot.platform.models import Location
from bot.store.access.audit_log import AuditFilter
from engine.errors import InvalidQuestion, NotFound
from tests.bot.commands.conftest import ATTIC, NOW, Workspace
from tests.support.builders import ROOF


@pytest.mark.share(2)
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
    told = "Forgotten: **minutes.pdf** (1 message or page, #roof). It will be gone from my disk within 10 minutes."
    before, _, receipt = text.partition(" Receipt ")
    assert before == told
    assert receipt.partition(": ")[2] == "1 document, 1 message or page, 1 fact, and 1 entry of the graph."
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


async def test_the_audit_log_counts_what_goes_from_direct_messages(workspace: Workspace) -> None:
    direct = workspace.platform.add_channel("D7", "bob", kind="direct")
    nails = workspace.platform.add_file("nails.txt", b"The nails come on Friday.")
    invoked = CommandInvoked("c1", direct, "bob", "learn", "", uploads=(nails,))
    await learn_command(CommandContext.of(workspace, invoked, NOW))  # type: ignore[arg-type]
    await workspace.engine.wait_until_indexed()
    await workspace.text("bob", "forget nails.txt", direct)
    entries = await workspace.context.store.audit.list(AuditFilter())
    forgotten, _, learned, _ = entries
    assert (forgotten.action, learned.action) == ("forget", "upload")
    assert ('"private":1' in forgotten.details, '"count":1' in learned.details) == (True, True)
    assert not any(word in repr(entries) for word in ("D7", "nails", "bob"))


@pytest.mark.parametrize("option", ["--dry-run", "—dry-run", "-dry-run", "--dry run", "--DryRun"])
async def test_a_dry_run_says_how_much_would_go_and_forgets_nothing(workspace: Workspace, option: str) -> None:
    await workspace.share("bob", "minutes.pdf", "The roof leaks.", ROOF)
    message = await workspace.post("bob", "Mina sells tickets.", ROOF)
    link = workspace.platform.message_link(ROOF, message.id)
    for command, words in (
        ("forget", f"minutes.pdf {option}"),
        ("forget", f"{option} {link}"),
        ("forget", f"me {option}"),
        ("forget-me", option),
    ):
        card = await workspace.command("bob", f"{command} {words}")
        assert card.text.startswith("This would forget ")
        assert "receipt" not in card.text.casefold()
    assert len(await workspace.bot.list_documents(ROOF)) == 2
    with pytest.raises(NotFound, match="I found no “ledger"):
        await workspace.command("bob", f"forget ledger.pdf {option}")


@pytest.mark.parametrize("option", ["--dry-run=yes", "-n", "—rehearse"])
async def test_an_option_that_is_not_known_forgets_nobody(workspace: Workspace, option: str) -> None:
    await workspace.share("bob", "minutes.pdf", "The roof leaks.", ROOF)
    assert (await workspace.command("bob", f"forget-me {option}")).text.startswith("This would forget ")
    assert len(await workspace.bot.list_documents(ROOF)) == 1
