from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.capabilities.caller import at_terminal
from bot.capabilities.deps import Deps
from bot.capabilities.documents.lookup import LOCAL_SPACE, build_scope, chat_key
from bot.capabilities.ingest import ingest
from bot.capabilities.ingest.ingest import format_waiting, run_concurrently
from bot.capabilities.ingest.progress import RESUME_MESSAGE, STALL_MESSAGE, STALL_SECONDS, OutageDetector, StallDetector
from bot.capabilities.requests import AtSpace, Forget, Ingest, ListDocuments, Retry
from bot.capabilities.results import Completed, DocumentList, IngestResult, ProgressUpdate
from engine.errors import InvalidApiKey, ModelRefused, ModelUnavailable, ModelUnreachable, NotFound
from engine.models import Question
from engine.storage.ledger.records.query_results import IndexStatus
from tests.bot.capabilities.conftest import NoParts, Perform, last, of_kind, run
from tests.support.echo_language import UNREADABLE, EchoLanguage, open_engine_context
from tests.support.fake_embedder import HashEmbedder
from tests.support.patience import PATIENCE

AWAY = ModelUnreachable("Nobody is there.")


async def ingest_paths(perform: Perform, *paths: Path, space: str = LOCAL_SPACE) -> IngestResult:
    return last(await perform(Ingest(tuple(map(str, paths)), space)), IngestResult)


async def listed(perform: Perform, space: str = LOCAL_SPACE) -> dict[str, str]:
    documents = last(await perform(AtSpace(space, ListDocuments())), DocumentList).documents
    return {document.key: document.status for document in documents}


def chats(town: Path, *ids: str) -> list[str]:
    return [chat_key(town / "harbour.jsonl", LOCAL_SPACE, id_) for id_ in ids or ("m1", "m2")]


def scramble(path: Path) -> bytes:
    """Change a file without changing its size and time; gives what it held."""
    stat, content = path.stat(), path.read_bytes()
    path.write_bytes(b"\0" * stat.st_size)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    return content


async def test_a_folder_is_indexed_with_progress_and_a_second_run_changes_nothing(
    perform: Perform, town: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "SLOW_FILE_SECONDS", 0.0)
    events = await perform(Ingest((str(town),), LOCAL_SPACE))
    result, updates = last(events, IngestResult), of_kind(events, ProgressUpdate)
    assert (result.files, result.documents, result.changed, result.failures) == (3, 4, 4, ())
    keys = [f"file:{town / 'ferry.md'}", f"file:{town / 'tea.txt'}", *chats(town)]
    assert await listed(perform) == dict.fromkeys(keys, "indexed")
    for stage, total in (("parsing", 3), ("indexing", 4)):
        done = [update.done for update in updates if update.stage == stage]
        assert done == sorted(done)
        assert {update.total for update in updates if update.stage == stage} == {total}
        assert done[-1] == total
    remaining = {
        stage: " ".join(update.remaining for update in updates if update.stage == stage)
        for stage in ("parsing", "indexing")
    }
    assert "ferry.md for" in remaining["parsing"]
    assert "to read" in remaining["indexing"] or "to update" in remaining["indexing"]
    again = await ingest_paths(perform, town)
    assert (again.documents, again.changed) == (4, 0)


@pytest.mark.parametrize(("name", "documents"), [("tea.txt", 1), ("harbour.jsonl", 2)])
async def test_an_unchanged_file_is_not_even_read_again(
    perform: Perform, town: Path, name: str, documents: int
) -> None:
    await ingest_paths(perform, town / name)
    content = scramble(town / name)
    result = await ingest_paths(perform, town / name)
    assert (result.documents, result.changed, result.failures) == (documents, 0, ())
    (town / name).write_bytes(content)
    key = chats(town)[0] if documents == 2 else str(town / name)
    await perform(Forget(key))
    assert len(await listed(perform)) == documents - 1
    assert (await ingest_paths(perform, town / name)).changed == 1, "it was forgotten"


async def test_changed_files_and_longer_chats_are_indexed_again_and_what_left_a_chat_is_forgotten(
    perform: Perform, town: Path
) -> None:
    chat = town / "harbour.jsonl"
    await ingest_paths(perform, town)
    (town / "tea.txt").write_text("Tea is no longer served.")
    message = {"id": "m3", "user": "Ada", "text": "Now?", "time": "2026-05-12T14:05:00Z"}
    chat.write_text(f"{chat.read_text()}\n{json.dumps(message)}")
    assert (await ingest_paths(perform, town)).changed == 2
    chat.write_text(chat.read_text().splitlines()[1])
    assert (await ingest_paths(perform, chat)).documents == 1
    assert {key for key in await listed(perform) if key.startswith("chat:")} == set(chats(town, "m2"))


async def test_files_of_one_name_or_in_two_spaces_are_documents_of_their_own(perform: Perform, town: Path) -> None:
    (town / "b").mkdir()
    shutil.copy(town / "harbour.jsonl", town / "b" / "harbour.jsonl")
    assert (await ingest_paths(perform, town)).changed == len(await listed(perform)) == 6
    assert (await ingest_paths(perform, town / "tea.txt", space="team")).changed == 1
    assert list(await listed(perform, "team")) == [f"file:team:{town / 'tea.txt'}"]


async def test_what_cannot_be_read_or_is_refused_by_the_model_is_a_failure_of_its_own(
    perform: Perform, town: Path
) -> None:
    files = {"photo.png": b"\x89PNG\r\n", "empty.md": b"", "broken.jsonl": b"Hello", "odd.txt": UNREADABLE.encode()}
    for name, content in files.items():
        (town / name).write_bytes(content)
    result = await ingest_paths(perform, town)
    assert result.changed == 5
    assert {failure.what for failure in result.failures} == {
        *(str(town / name) for name in ("photo.png", "empty.md", "broken.jsonl")),
        "odd.txt",
    }
    assert all(failure.error for failure in result.failures)
    assert [failure.error for failure in result.failures if failure.what == "odd.txt"] == [
        "The parrot does not say that."
    ]
    assert all(failure.hint for failure in result.failures if failure.what != "odd.txt")


async def test_a_file_over_the_limit_names_it_and_the_setting_to_the_owner(perform: Perform, town: Path) -> None:
    with (town / "large.txt").open("wb") as large:
        large.truncate(60 * 2**20)
    [failure] = (await ingest_paths(perform, town)).failures
    assert failure.error == "large.txt has 60 MiB; the maximum is 50."
    assert "THREADLORE_MAX_FILE_SIZE_MB" in failure.hint


async def test_a_folder_that_cannot_be_listed_is_a_failure_that_says_what_to_do(
    perform: Perform, town: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (town / "locked").mkdir()
    scan = os.scandir

    def refuse(path: Path) -> Any:
        if Path(path).name == "locked":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = await ingest_paths(perform, town)
    assert result.changed == 4
    [failure] = result.failures
    assert (failure.what, failure.error) == (str(town / "locked"), "It cannot be read: Permission denied.")
    assert failure.hint == ingest.GIVE_RIGHT


async def test_a_wrong_key_is_reported_at_once_and_gives_no_document_up(tmp_path: Path, town: Path) -> None:
    for number in range(6):
        (town / f"note {number}.txt").write_text(f"Mina sold {number} tickets.")
    wrong = EchoLanguage()
    wrong.failing["extract", ""] = InvalidApiKey("The key is wrong.")
    async with open_engine_context(tmp_path / "other", wrong) as context, asyncio.timeout(PATIENCE):
        result = last(await run(context, Ingest((str(town),), LOCAL_SPACE)), IngestResult)
        assert result.trouble.startswith("The key is wrong. 10 documents wait for it")
        assert (result.failures, await context.engine.maintenance.count_given_up()) == ((), 0)


async def test_the_same_failure_of_many_documents_is_reported_once(tmp_path: Path, town: Path) -> None:
    for number in range(6):
        (town / f"note {number}.txt").write_text(f"Mina sold {number} tickets.")
    refusing = EchoLanguage()
    refusing.failing["extract", ""] = ModelRefused("Not that.")
    async with open_engine_context(tmp_path / "other", refusing) as context, asyncio.timeout(PATIENCE):
        [failure] = last(await run(context, Ingest((str(town),), LOCAL_SPACE)), IngestResult).failures
    assert (failure.what.endswith("and 9 more documents"), failure.error) == (True, "Not that.")


@pytest.fixture
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unreachable model is not waited for."""
    monkeypatch.setattr(ingest, "OUTAGE_TIMEOUT_SECONDS", 0.1)


unreachable = pytest.mark.parametrize("error", [ModelUnreachable, ModelUnavailable])


@pytest.mark.usefixtures("_no_patience")
@unreachable
async def test_without_the_model_everything_is_stored_and_the_next_run_goes_on(
    tmp_path: Path, town: Path, error: type[ModelUnavailable]
) -> None:
    away, request, scope = EchoLanguage(), Ingest((str(town),), LOCAL_SPACE), build_scope([LOCAL_SPACE])
    away.failing["extract", ""] = error("Nobody is there.")
    async with open_engine_context(tmp_path / "other", away) as context, asyncio.timeout(PATIENCE):
        result = last(await run(context, request), IngestResult)
        assert (result.documents, result.changed, result.failures) == (4, 4, ())
        assert result.trouble.startswith("Nobody is there. 4 documents wait for it, and can be found by words")
        found = await context.engine.retrieve(Question("Who serves tea?", scope, mode="naive"))
        assert "Tea is served by Ada" in found.sources[0].text
    async with open_engine_context(tmp_path / "other") as context, asyncio.timeout(PATIENCE):
        result = last(await run(context, request), IngestResult)
        assert (result.changed, result.trouble) == (0, "")
        assert {each.status for each in await context.engine.documents.list(scope)} == {"indexed"}


@pytest.mark.parametrize(
    ("documents", "ending"),
    [
        ({}, ""),
        ({"searchable": 2}, "by words and by meaning already."),
        ({"searchable": 2, "pending": 1}, "found by words already."),
    ],
)
def test_waiting_documents_are_described_by_how_they_are_found_already(documents: dict[str, int], ending: str) -> None:
    status = replace(IndexStatus({"indexed": 3}, 0, 0, 0, 0, 0, 0, 0), documents=documents or {"indexed": 3})
    text = format_waiting(AWAY, status)
    assert text.endswith(ending)
    assert bool(text) is bool(ending)


@pytest.mark.usefixtures("_no_patience")
@unreachable
async def test_without_the_embedder_documents_are_found_by_words_alone(
    tmp_path: Path, town: Path, error: type[ModelUnavailable]
) -> None:
    embedder, request = HashEmbedder(), Ingest((str(town / "tea.txt"),), LOCAL_SPACE)
    embedder.failing[""] = error("No embedder.")
    async with open_engine_context(tmp_path / "other", embedder=embedder) as context, asyncio.timeout(PATIENCE):
        result = last(await run(context, request), IngestResult)
        assert result.trouble == "No embedder. 1 document waits for it, and can be found by words already."
    async with open_engine_context(tmp_path / "other") as context, asyncio.timeout(PATIENCE):
        assert last(await run(context, Retry()), Completed) == Completed("Retried: 1 document.")


@pytest.mark.usefixtures("_no_patience")
async def test_with_wait_the_run_waits_for_the_model_and_says_so(tmp_path: Path, town: Path) -> None:
    embedder, request = HashEmbedder(), Ingest((str(town / "tea.txt"),), LOCAL_SPACE, wait=True)
    embedder.failing[""] = ModelUnreachable("No embedder.")
    async with open_engine_context(tmp_path / "other", embedder=embedder) as context, asyncio.timeout(PATIENCE):
        troubles, events = set(), []
        async for event in ingest.ingest(Deps(context, NoParts()), at_terminal(), request):
            events.append(event)
            if isinstance(event, ProgressUpdate) and event.trouble:
                troubles.add(event.trouble)
                embedder.failing.clear()
    assert last(events, IngestResult).trouble == ""
    assert f"No embedder. {RESUME_MESSAGE}" in troubles


async def test_a_missing_path_is_an_error_before_anything_is_indexed(perform: Perform, town: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        await ingest_paths(perform, town, town / "nowhere")
    assert await listed(perform) == {}


async def test_so_many_run_at_once_and_each_result_is_given() -> None:
    running, most = 0, 0

    async def work(number: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return number

    assert sorted([outcome async for outcome in run_concurrently(range(10), work, 3) if outcome is not None]) == list(
        range(10)
    )
    assert most == 3


async def test_an_error_of_one_ends_the_others() -> None:
    ended: list[int] = []

    async def work(number: int) -> None:
        if number == 1:
            raise ValueError("enough")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(number)

    with pytest.raises(ValueError, match="enough"):
        [outcome async for outcome in run_concurrently(range(3), work, 3)]
    assert sorted(ended) == [0, 2]


def test_a_stall_is_reported_after_a_while_where_something_waits() -> None:
    detector = StallDetector(0.0)
    checks = [(0, 0.0), (0, 100.0), (3, 110.0), (3, 110.0 + STALL_SECONDS), (2, 111.0 + STALL_SECONDS)]
    assert [detector.check_stall(*check) for check in checks] == ["", "", "", STALL_MESSAGE, ""]


@pytest.mark.parametrize(
    ("checks", "end"),
    [
        pytest.param([(None, 0.0), (AWAY, 1.0), (AWAY, 30.9)], (AWAY, 31.0), id="too long"),
        pytest.param(
            [(AWAY, 0.0, 9), (AWAY, 29.0, 8), (AWAY, 58.0, 7), (AWAY, 87.0, 7)],
            (AWAY, 88.0, 7),
            id="other work goes on",
        ),
        pytest.param([(AWAY, 0.0), (None, 29.0), (AWAY, 40.0), (AWAY, 69.0)], (AWAY, 70.0), id="came back"),
    ],
)
def test_an_outage_is_reported_until_it_lasts_too_long(
    checks: list[tuple[object, ...]], end: tuple[object, ...]
) -> None:
    detector = OutageDetector(30.0)
    for check in checks:
        expected = f"{AWAY} {RESUME_MESSAGE}" if check[0] else ""
        assert detector.check_outage(*check) == expected  # type: ignore[arg-type]
    with pytest.raises(ModelUnreachable, match="Nobody"):
        detector.check_outage(*end)  # type: ignore[arg-type]
