from __future__ import annotations

import asyncio
import json
import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.admin.document_lookup import LOCAL_SPACE, build_scope, chat_key
from bot.admin.ingest import ingest
from bot.admin.ingest.ingest import format_waiting, run_concurrently
from bot.admin.ingest.progress import RESUME_MESSAGE
from bot.admin.operations import run_operation
from bot.admin.requests import Forget, Ingest, ListDocuments, Retry
from bot.admin.results import Completed, DocumentList, IngestResult, ProgressUpdate
from engine.errors import InvalidApiKey, ModelUnavailable, ModelUnreachable, NotFound
from engine.models import Question
from engine.storage.ledger.records.query_results import IndexStatus
from tests.support import echo_language
from tests.support.echo_language import UNREADABLE
from tests.support.fake_embedder import HashEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from bot.admin.results import OperationResult
    from tests.bot.conftest import Perform


def end(events: list[OperationResult]) -> IngestResult:
    assert isinstance(events[-1], IngestResult)
    return events[-1]


async def listed(perform: Perform, space: str = LOCAL_SPACE) -> dict[str, str]:
    [found] = await perform(ListDocuments((space,)))
    assert isinstance(found, DocumentList)
    return {each.key: each.status for each in found.documents}


def chats(town: Path, *ids: str) -> list[str]:
    return [chat_key(town / "harbour.jsonl", LOCAL_SPACE, id_) for id_ in ids or ("m1", "m2")]


async def test_files_and_conversations_of_a_folder_are_taken_in_and_indexed(perform: Perform, town: Path) -> None:
    told = end(await perform(Ingest((str(town),), LOCAL_SPACE)))
    assert (told.files, told.documents, told.changed, told.failures) == (3, 4, 4, ())
    assert await listed(perform) == dict.fromkeys(
        [f"file:{town / 'ferry.md'}", f"file:{town / 'tea.txt'}", *chats(town)], "indexed"
    )


async def test_progress_runs_from_nothing_to_all_in_both_stages(perform: Perform, town: Path) -> None:
    steps = [event for event in await perform(Ingest((str(town),), LOCAL_SPACE)) if isinstance(event, ProgressUpdate)]
    for stage, total in (("parsing", 3), ("indexing", 4)):
        done = [step.done for step in steps if step.stage == stage]
        assert done == sorted(done)
        assert {step.total for step in steps if step.stage == stage} == {total}
        assert done[-1] == total


async def test_a_second_run_changes_nothing(perform: Perform, town: Path) -> None:
    await perform(Ingest((str(town),), LOCAL_SPACE))
    told = end(await perform(Ingest((str(town),), LOCAL_SPACE)))
    assert (told.documents, told.changed) == (4, 0)


async def test_an_unchanged_file_is_not_even_read_again(perform: Perform, town: Path) -> None:
    path = town / "tea.txt"
    await perform(Ingest((str(path),), LOCAL_SPACE))
    seen = path.stat()
    path.write_bytes(b"\0" * seen.st_size)
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    told = end(await perform(Ingest((str(path),), LOCAL_SPACE)))
    assert (told.changed, told.failures) == (0, ())


async def test_a_changed_file_and_a_longer_chat_are_taken_in_anew(perform: Perform, town: Path) -> None:
    await perform(Ingest((str(town),), LOCAL_SPACE))
    (town / "tea.txt").write_text("Tea is no longer served.")
    with (town / "harbour.jsonl").open("a") as file:
        file.write("\n" + json.dumps({"id": "m3", "user": "Ada", "text": "Now?", "time": "2026-05-12T14:05:00Z"}))
    assert end(await perform(Ingest((str(town),), LOCAL_SPACE))).changed == 2


async def test_a_conversation_that_left_the_export_is_forgotten(perform: Perform, town: Path) -> None:
    path = town / "harbour.jsonl"
    await perform(Ingest((str(town),), LOCAL_SPACE))
    path.write_text(path.read_text().splitlines()[1])
    assert end(await perform(Ingest((str(path),), LOCAL_SPACE))).documents == 1
    assert {key for key in await listed(perform) if key.startswith("chat:")} == set(chats(town, "m2"))


async def test_exports_of_one_name_do_not_overwrite_each_other(perform: Perform, town: Path) -> None:
    (town / "b").mkdir()
    shutil.copy(town / "harbour.jsonl", town / "b" / "harbour.jsonl")
    assert end(await perform(Ingest((str(town),), LOCAL_SPACE))).changed == 6
    assert len(await listed(perform)) == 6


async def test_an_unchanged_export_is_not_even_read_again(perform: Perform, town: Path) -> None:
    path = town / "harbour.jsonl"
    await perform(Ingest((str(path),), LOCAL_SPACE))
    seen, text = path.stat(), path.read_bytes()
    path.write_bytes(b"\0" * seen.st_size)
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    told = end(await perform(Ingest((str(path),), LOCAL_SPACE)))
    assert (told.documents, told.changed, told.failures) == (2, 0, ())
    path.write_bytes(text)
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    await perform(Forget(chats(town)[0], (LOCAL_SPACE,)))
    assert end(await perform(Ingest((str(path),), LOCAL_SPACE))).changed == 1


async def test_a_forgotten_file_is_taken_in_again_when_it_is_named_again(perform: Perform, town: Path) -> None:
    path = town / "tea.txt"
    await perform(Ingest((str(path),), LOCAL_SPACE))
    await perform(Forget(str(path), (LOCAL_SPACE,)))
    assert await listed(perform) == {}
    assert end(await perform(Ingest((str(path),), LOCAL_SPACE))).changed == 1


async def test_the_same_file_in_two_spaces_is_two_documents(perform: Perform, town: Path) -> None:
    path = town / "tea.txt"
    await perform(Ingest((str(path),), LOCAL_SPACE))
    assert end(await perform(Ingest((str(path),), "team"))).changed == 1
    assert list(await listed(perform)) == [f"file:{path}"]
    assert list(await listed(perform, "team")) == [f"file:team:{path}"]


async def test_what_cannot_be_read_is_a_failure_of_its_own(perform: Perform, town: Path) -> None:
    (town / "photo.png").write_bytes(b"\x89PNG\r\n")
    (town / "empty.md").write_text("")
    (town / "broken.jsonl").write_text("Hello")
    told = end(await perform(Ingest((str(town),), LOCAL_SPACE)))
    assert told.changed == 4
    assert {failure.what for failure in told.failures} == {
        str(town / name) for name in ("photo.png", "empty.md", "broken.jsonl")
    }
    assert all(failure.error and failure.hint for failure in told.failures)


async def test_what_the_model_refuses_is_a_failure_too_and_the_rest_is_taken_in(perform: Perform, town: Path) -> None:
    (town / "odd.txt").write_text(f"This is {UNREADABLE}.")
    told = end(await perform(Ingest((str(town),), LOCAL_SPACE)))
    assert [(failure.what, failure.error) for failure in told.failures] == [
        ("odd.txt", "The parrot does not say that.")
    ]


async def test_what_befell_many_in_the_same_way_is_told_once(tmp_path: Path, town: Path) -> None:
    for number in range(6):
        (town / f"note {number}.txt").write_text(f"Mina sold {number} tickets.")
    wrong = echo_language.EchoLanguage()
    wrong.failing["extract", ""] = InvalidApiKey("The key is wrong.")
    async with echo_language.open_engine_context(tmp_path / "other", wrong) as desk, asyncio.timeout(20):
        told = end([event async for event in run_operation(desk, Ingest((str(town),), LOCAL_SPACE))])
    [failure] = told.failures
    assert (failure.what.endswith("and 9 more documents"), failure.error) == (True, "The key is wrong.")


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is away is not waited for long."""
    monkeypatch.setattr(ingest, "OUTAGE_TIMEOUT_SECONDS", 0.1)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("error", [ModelUnreachable, ModelUnavailable])
async def test_without_the_model_everything_is_taken_in_and_the_next_run_goes_on(
    tmp_path: Path, town: Path, error: type[ModelUnavailable]
) -> None:
    away, request = echo_language.EchoLanguage(), Ingest((str(town),), LOCAL_SPACE)
    away.failing["extract", ""] = error("Nobody is there.")
    async with echo_language.open_engine_context(tmp_path / "other", away) as desk, asyncio.timeout(20):
        told = end([event async for event in run_operation(desk, request)])
        assert (told.documents, told.changed, told.failures) == (4, 4, ())
        assert told.trouble.startswith("Nobody is there. 4 documents wait for it, and can be found by words")
        found = await desk.engine.retrieve(Question("Who serves tea?", build_scope([LOCAL_SPACE]), mode="naive"))
        assert "Tea is served by Ada" in found.sources[0].text
    async with echo_language.open_engine_context(tmp_path / "other") as desk, asyncio.timeout(20):
        told = end([event async for event in run_operation(desk, request)])
        assert (told.changed, told.trouble) == (0, "")
        assert {each.status for each in await desk.engine.list_documents(build_scope([LOCAL_SPACE]))} == {"indexed"}


def test_what_waits_for_a_model_is_told_with_how_it_is_found_until_then() -> None:
    away, nothing = ModelUnreachable("Nobody is there."), IndexStatus({"indexed": 3}, 0, 0, 0, 0, 0, 0, 0)
    assert format_waiting(away, nothing) == ""
    assert format_waiting(away, replace(nothing, documents={"searchable": 2})).endswith(
        "by words and by meaning already."
    )
    assert format_waiting(away, replace(nothing, documents={"searchable": 2, "pending": 1})).endswith(
        "found by words already."
    )


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("error", [ModelUnreachable, ModelUnavailable])
async def test_without_the_embedder_documents_are_found_by_words_alone(
    tmp_path: Path, town: Path, error: type[ModelUnavailable]
) -> None:
    embedder = HashEmbedder()
    embedder.failing[""] = error("No embedder.")
    async with echo_language.open_engine_context(tmp_path / "other", embedder=embedder) as desk, asyncio.timeout(20):
        told = end([event async for event in run_operation(desk, Ingest((str(town / "tea.txt"),), LOCAL_SPACE))])
        assert told.trouble == "No embedder. 1 document waits for it, and can be found by words already."
    async with echo_language.open_engine_context(tmp_path / "other") as desk, asyncio.timeout(20):
        *_, last = [event async for event in run_operation(desk, Retry((LOCAL_SPACE,)))]
        assert last == Completed("Retried: 1 document.")


async def test_a_file_that_is_read_for_long_is_named(
    perform: Perform, town: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "SLOW_FILE_SECONDS", 0.0)
    steps = [event for event in await perform(Ingest((str(town),), LOCAL_SPACE)) if isinstance(event, ProgressUpdate)]
    assert any(step.remaining.startswith("ferry.md for") for step in steps if step.stage == "parsing")


async def test_what_is_left_within_documents_is_told(perform: Perform, town: Path) -> None:
    steps = [event for event in await perform(Ingest((str(town),), LOCAL_SPACE)) if isinstance(event, ProgressUpdate)]
    assert any(
        "to read" in step.remaining or "to project" in step.remaining for step in steps if step.stage == "indexing"
    )


@pytest.mark.usefixtures("at_once")
async def test_who_is_told_to_wait_waits_for_the_model_and_says_so(tmp_path: Path, town: Path) -> None:
    embedder = HashEmbedder()
    embedder.failing[""] = ModelUnreachable("No embedder.")
    async with echo_language.open_engine_context(tmp_path / "other", embedder=embedder) as desk, asyncio.timeout(20):
        troubles, last = set(), None
        async for last in run_operation(desk, Ingest((str(town / "tea.txt"),), LOCAL_SPACE, wait=True)):
            if isinstance(last, ProgressUpdate) and last.trouble:
                troubles.add(last.trouble)
                embedder.failing.clear()
        assert isinstance(last, IngestResult)
        assert last.trouble == ""
        assert f"No embedder. {RESUME_MESSAGE}" in troubles


async def test_a_path_that_leads_nowhere_is_an_error_before_anything_is_taken_in(perform: Perform, town: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        await perform(Ingest((str(town), str(town / "nowhere")), LOCAL_SPACE))
    assert await listed(perform) == {}


async def test_so_many_are_worked_on_at_once_and_each_is_given_back() -> None:
    running, most = 0, 0

    async def work(number: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return number * number

    assert sorted([each async for each in run_concurrently(range(10), work, 3) if each is not None]) == [
        number**2 for number in range(10)
    ]
    assert most == 3


async def test_what_one_raises_ends_the_others() -> None:
    ended: list[int] = []

    async def work(number: int) -> None:
        if number == 1:
            raise ValueError("enough")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(number)

    with pytest.raises(ValueError, match="enough"):
        [each async for each in run_concurrently(range(3), work, 3)]
    assert sorted(ended) == [0, 2]
