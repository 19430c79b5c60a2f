"""Erasures with their receipts and rehearsals, through the capabilities that every door uses."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bot.capabilities.caller import Caller, at_terminal
from bot.capabilities.erasure.requests import (
    Erased,
    ErasureRehearsal,
    Forgotten,
    ListReceipts,
    ReceiptChecked,
    VerifyReceipt,
)
from bot.capabilities.requests import AtSpace, Forget, ForgetMe
from bot.capabilities.results import Listing
from bot.capabilities.run import run, run_for_person
from bot.errors import NotPermitted
from bot.ingest.documents import ConversationDocuments
from bot.ingest.erasure.keys import KEY_FILE
from bot.ingest.erasure.receipt import dump_receipt
from bot.ingest.sync.retention import Retention
from bot.platform.events import WorkspaceLeft
from bot.platform.models import Location
from bot.store import Subject
from bot.store.access.audit_log import AuditFilter
from bot.store.schedules.retention import RetentionRecord
from engine.errors import InvalidQuestion, NotFound, StoreError
from tests.bot.answers.renewal.test_renewer import renew
from tests.support.bot_fixture import BotFixture, open_bot, run_before
from tests.support.databases import find_database


@pytest_asyncio.fixture
async def bot(tmp_path: Path) -> AsyncIterator[BotFixture]:
    async with open_bot(tmp_path / "home") as opened:
        yield opened


async def perform(bot: BotFixture, who: str, place: Location, request: Any) -> Any:
    """The last result for a person in a channel."""
    scope = await bot.context.audience.scope_for_person(place, who)
    caller = Caller("person", Subject("slack", "T1", who), scope, place, door="chat")
    return [result async for result in run_for_person(bot.deps, caller, request)][-1]


async def operate(bot: BotFixture, request: Any) -> Any:
    return [each async for each in run(bot.deps, request)][-1]


async def tell_of_the_ferry(bot: BotFixture) -> tuple[Location, str]:
    """A channel with two messages of Ada and one of Bob, an answer to Bob; gives the link to the first message."""
    place = await bot.join("C1", "ada", "bob")
    first = await bot.post(place, "ada", "Quillfeather met Mirabell at the ferry.")
    await bot.post(place, "ada", "The ferry leaves at nine.")
    await bot.post_indexed(place, "bob", "Mirabell saw the ferry.")
    reply = await bot.ask(place, "bob", "Who met Mirabell?")
    assert (await bot.stored(reply)).text
    return place, bot.platform.message_link(place, first.id)


async def close_conversations(bot: BotFixture, place: Location) -> None:
    for document in await bot.list_documents(place):
        await bot.engine.documents.amend(document.key, is_open=False)
    await bot.engine.wait_until_indexed()


async def test_a_rehearsal_changes_nothing_and_says_what_the_receipt_says(bot: BotFixture) -> None:
    place, link = await tell_of_the_ferry(bot)
    before = [document.passages for document in await bot.list_documents(place)]
    rehearsed = await perform(bot, "ada", place, Forget(link, dry_run=True))
    assert isinstance(rehearsed, ErasureRehearsal)
    assert [document.passages for document in await bot.list_documents(place)] == before
    done = await perform(bot, "ada", place, Forget(link))
    assert isinstance(done, Forgotten)
    assert done.receipt["counts"] == rehearsed.counts
    assert (rehearsed.counts["passages"], rehearsed.counts["messages"], rehearsed.counts["answers"]) == (1, 1, 1)
    assert rehearsed.questions == ("Who met Mirabell?",)


async def test_a_receipt_holds_no_word_and_no_id_of_what_was_erased(bot: BotFixture) -> None:
    place, link = await tell_of_the_ferry(bot)
    done = await perform(bot, "ada", place, Forget(link))
    text = dump_receipt(done.receipt).casefold()
    for word in ("quillfeather", "mirabell", "ferry", "ada", "bob", place.room.casefold(), link.rpartition("/")[2]):
        assert f'"{word}' not in text
        assert word not in text or len(word) <= 3  # so short a word may be a part of a hash


async def test_whoever_was_forgotten_lists_the_receipt_and_nobody_else_does(bot: BotFixture) -> None:
    place, _ = await tell_of_the_ferry(bot)
    rehearsed = await perform(bot, "ada", place, ForgetMe(dry_run=True))
    done = await perform(bot, "ada", place, ForgetMe())
    assert isinstance(done, Erased)
    assert done.receipt["counts"] == rehearsed.counts
    assert rehearsed.counts["messages"] == 2
    id_ = done.receipt["id"]
    listed = await perform(bot, "ada", place, ListReceipts())
    assert isinstance(listed, Listing)
    assert [row[0] for row in listed.rows] == [id_]
    assert (await perform(bot, "bob", place, ListReceipts())).rows == ()
    with pytest.raises(NotFound):
        await perform(bot, "bob", place, ListReceipts(id_))
    assert [row[0] for row in (await operate(bot, ListReceipts())).rows] == [id_]
    assert (await perform(bot, "ada", place, ListReceipts(id_))).receipt == done.receipt
    [stored] = await bot.store.receipts.list_newest()
    assert "ada" not in stored.owner


async def test_answers_in_places_that_a_reader_may_not_see_are_not_counted_for_them(bot: BotFixture) -> None:
    place = await bot.join("C1", "ada", "bob")
    attic = await bot.join("C2", "bob", "cid", kind="closed")
    message = await bot.post_indexed(place, "ada", "Quillfeather met Mirabell.")
    await bot.ask(attic, "bob", "Who met Mirabell?")
    link = bot.platform.message_link(place, message.id)
    seen = await perform(bot, "ada", place, Forget(link, dry_run=True))
    assert (seen.counts["answers"], seen.questions) == (0, ())
    done = await perform(bot, "ada", place, Forget(link))
    assert done.receipt["counts"] == seen.counts
    assert not (await bot.stored(bot.last_reply)).text


async def test_a_renewed_answer_is_not_what_was_erased(bot: BotFixture) -> None:
    place = await bot.join("C1", "ada", "bob")
    kiln = await bot.post_indexed(place, "ada", "The kiln is lit on Monday.")
    await bot.post_indexed(place, "ada", "The kiln is lit with oak.")
    reply = await bot.ask(place, "bob", "When and with what is the kiln lit?")
    done = await perform(bot, "ada", place, Forget(bot.platform.message_link(place, kiln.id)))
    assert done.receipt["counts"]["answers"] == 1
    text = json.dumps(done.receipt)
    assert (await operate(bot, VerifyReceipt(text))).remaining["answers"] == 0
    await renew(bot)
    assert "oak" in reply.text
    assert (await operate(bot, VerifyReceipt(text))).remaining["answers"] == 0
    await operate(bot, VerifyReceipt(text, erase_again=True))
    assert (await bot.stored(reply)).text


async def test_counts_of_a_reader_do_not_tell_what_other_rooms_hold(bot: BotFixture) -> None:
    place, attic = await bot.join("C1", "ada"), await bot.join("C2", "bob", kind="closed")
    message = await bot.post_indexed(place, "ada", "Quillfeather met Mirabell at the ferry.")
    await close_conversations(bot, place)
    request = Forget(bot.platform.message_link(place, message.id), dry_run=True)
    before = await perform(bot, "ada", place, request)
    assert before.counts["profiles"] > 0
    await bot.post_indexed(attic, "bob", "Quillfeather met Mirabell at the ferry.")
    await close_conversations(bot, attic)
    assert (await perform(bot, "ada", place, request)).counts == before.counts


async def test_verify_says_what_an_older_backup_brought_back_and_erases_it_again(tmp_path: Path) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy"
    if find_database(home):
        pytest.skip("a backup of files")
    async with open_bot(home) as bot:
        place, _ = await tell_of_the_ferry(bot)
        platform = bot.platform
    shutil.copytree(home, copy)
    async with open_bot(home, platform) as bot:
        done = await perform(bot, "ada", place, ForgetMe())
        text = dump_receipt(done.receipt)
        clean = await operate(bot, VerifyReceipt(text))
        assert isinstance(clean, ReceiptChecked)
        assert not any(clean.remaining.values())
        assert not any((await perform(bot, "ada", place, VerifyReceipt(done.receipt["id"]))).remaining.values())
        with pytest.raises(NotPermitted):
            await perform(bot, "ada", place, VerifyReceipt(text, erase_again=True))
    shutil.copyfile(home / "receipt.key", copy / "receipt.key")
    async with open_bot(copy, platform) as bot:
        back = await operate(bot, VerifyReceipt(text))
        assert back.remaining["messages"] == 2
        again = await operate(bot, VerifyReceipt(text, erase_again=True))
        assert again.erased_again
        assert not any((await operate(bot, VerifyReceipt(text))).remaining.values())
        assert [message.author for message in await bot.store.messages.list_by_author("slack", "T1", "ada")] == []
        changed = text.replace('"messages": 2', '"messages": 3')
        with pytest.raises(InvalidQuestion, match="was changed"):
            await operate(bot, VerifyReceipt(changed))


async def test_the_operator_gets_a_receipt_of_a_file(bot: BotFixture) -> None:
    await bot.engine.documents.add_text("Plan of Quillfeather", "Quillfeather met Mirabell.", space="console:local")
    await bot.engine.wait_until_indexed()
    key = "text:console:local:Plan of Quillfeather"
    assert at_terminal("console:local").is_owner
    rehearsed = await operate(bot, AtSpace("console:local", Forget(key, dry_run=True)))
    done = await operate(bot, AtSpace("console:local", Forget(key)))
    assert isinstance(done, Forgotten)
    assert done.receipt["counts"] == rehearsed.counts
    assert (rehearsed.counts["documents"], rehearsed.counts["facts"] > 0) == (1, True)
    assert "quillfeather" not in json.dumps(done.receipt).casefold()
    assert not any((await operate(bot, VerifyReceipt(json.dumps(done.receipt)))).remaining.values())


async def test_what_goes_by_age_has_a_receipt_of_the_operator(tmp_path: Path) -> None:
    async with open_bot(tmp_path / "home", retention_days=30) as bot:
        place, _ = await tell_of_the_ferry(bot)
        await bot.ingest_service.run_due_jobs(bot.clock.now())
        assert await bot.store.receipts.list_newest() == []
        await bot.store.retention.save(RetentionRecord(30, bot.clock.now()))
        await Retention(bot.context, ConversationDocuments(bot.context))._delete_before(bot.clock.now() + timedelta(1))
        [stored] = await bot.store.receipts.list_newest()
        receipt = json.loads(stored.document)
        assert (stored.owner, stored.action) == ("", "retention")
        assert (receipt["counts"]["documents"], receipt["counts"]["passages"], receipt["counts"]["answers"]) == (
            1,
            3,
            1,
        )
        assert await bot.list_documents(place) == []
        assert not any((await operate(bot, VerifyReceipt(stored.id))).remaining.values())


async def test_what_must_go_goes_without_a_receipt_if_it_cannot_be_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> None:
        raise StoreError("The disk is full.")

    async with open_bot(tmp_path / "home", delete_data_on_uninstall=True, retention_days=30) as bot:
        place, _ = await tell_of_the_ferry(bot)
        monkeypatch.setattr(bot.store.affected_answers, "list_answers", fail)
        await Retention(bot.context, ConversationDocuments(bot.context))._delete_before(bot.clock.now() + timedelta(1))
        assert await bot.list_documents(place) == []
        await bot.post_indexed(place, "bob", "Mirabell saw the ferry again.")
        await bot.ingest_service.handle(WorkspaceLeft("slack", "T1", "removed"))
        assert await bot.list_documents(place) == []
        assert await bot.store.receipts.list_newest() == []


async def test_what_goes_with_the_installation_has_a_receipt_of_the_operator(tmp_path: Path) -> None:
    async with open_bot(tmp_path / "home", delete_data_on_uninstall=True) as bot:
        place, _ = await tell_of_the_ferry(bot)
        await bot.ingest_service.handle(WorkspaceLeft("slack", "T1", "removed"))
        [stored] = await bot.store.receipts.list_newest()
        receipt = json.loads(stored.document)
        assert (stored.action, receipt["asked"]) == ("uninstall", {"workspace": "slack:T1"})
        assert (receipt["counts"]["documents"], receipt["counts"]["passages"], receipt["counts"]["answers"]) == (
            1,
            3,
            1,
        )
        assert await bot.list_documents(place) == []
        assert not any((await operate(bot, VerifyReceipt(stored.id))).remaining.values())


async def test_the_next_start_leaves_a_workspace_that_the_bot_was_added_to_again(tmp_path: Path) -> None:
    async def end() -> None:
        raise KeyboardInterrupt

    async with open_bot(tmp_path / "home", delete_data_on_uninstall=True) as bot:
        await tell_of_the_ferry(bot)
        run_before(bot.store, "delete_workspace", end)
        with pytest.raises(KeyboardInterrupt):
            await bot.ingest_service.handle(WorkspaceLeft("slack", "T1", "removed"))
        barn = await bot.join("BARN", "ada", "bob")
        await bot.post_indexed(barn, "ada", "The barn is full of hay.")
        await bot.ingest_service.complete_erasures()
        assert len(await bot.list_documents(barn)) == 1


async def test_the_next_start_completes_the_deletion_of_a_workspace(tmp_path: Path) -> None:
    async def end() -> None:
        raise KeyboardInterrupt

    async with open_bot(tmp_path / "home", delete_data_on_uninstall=True) as bot:
        await tell_of_the_ferry(bot)
        await bot.store.reports.schedule(Location("slack", "T1", ""), "ada", bot.clock.now())
        run_before(bot.store, "delete_workspace", end)
        with pytest.raises(KeyboardInterrupt):
            await bot.ingest_service.handle(WorkspaceLeft("slack", "T1", "removed"))
        assert await bot.store.personal.list("slack", "T1", "ada")
        await bot.ingest_service.complete_erasures()
        assert await bot.store.personal.list("slack", "T1", "ada") == []
        [receipt] = await bot.store.receipts.list_newest()
        assert receipt.action == "uninstall"
        for _ in range(2):  # the event may come again
            [entry] = await bot.store.audit.list(AuditFilter(action="forget-workspace"))
            assert (entry.state, entry.workspace, json.loads(entry.details)) == (
                *("done", "slack:T1"),
                {"receipt": receipt.id},
            )
            await bot.ingest_service.handle(WorkspaceLeft("slack", "T1", "removed"))


async def break_key(bot: BotFixture) -> None:
    (bot.context.settings.data_path / KEY_FILE).write_text("damaged\n")


async def test_a_key_that_cannot_be_read_at_the_end_leaves_one_entry_and_nothing_to_complete(tmp_path: Path) -> None:
    async with open_bot(tmp_path / "home", delete_data_on_uninstall=True) as bot:
        await tell_of_the_ferry(bot)
        run_before(bot.store, "delete_workspace", lambda: break_key(bot))
        await bot.ingest_service.handle(WorkspaceLeft("slack", "T1", "removed"))
        [entry] = await bot.store.audit.list(AuditFilter(action="forget-workspace"))
        assert json.loads(entry.details) == {}
        assert await bot.store.receipts.list_abandoned() == []


async def test_whoever_got_no_receipt_is_not_forgotten_again_by_the_next_start(bot: BotFixture) -> None:
    place, link = await tell_of_the_ferry(bot)
    run_before(bot.engine.documents, "amend", lambda: break_key(bot))
    done = await perform(bot, "ada", place, Forget(link))
    assert done.receipt == {}
    assert await bot.store.receipts.list_abandoned() == []
