from __future__ import annotations

import asyncio
import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from bot.events import Advanced, Catalogued, Ingested
from bot.requests import Catalogue, Forget, Ingest
from bot.verbs.ingesting import completed
from bot.verbs.naming import LOCAL, chat_key
from engine.errors import NotFound
from tests.bot.parrot import UNREADABLE

if TYPE_CHECKING:
    from pathlib import Path

    from bot.events import Event
    from tests.bot.conftest import Perform


def end(events: list[Event]) -> Ingested:
    assert isinstance(events[-1], Ingested)
    return events[-1]


async def listed(perform: Perform, space: str = LOCAL) -> dict[str, str]:
    [found] = await perform(Catalogue((space,)))
    assert isinstance(found, Catalogued)
    return {each.key: each.status for each in found.documents}


def chats(town: Path, *ids: str) -> list[str]:
    return [chat_key(town / "harbour.jsonl", LOCAL, id_) for id_ in ids or ("m1", "m2")]


async def test_files_and_conversations_of_a_folder_are_taken_in_and_indexed(perform: Perform, town: Path) -> None:
    told = end(await perform(Ingest((str(town),), LOCAL)))
    assert (told.files, told.documents, told.changed, told.failures) == (3, 4, 4, ())
    assert await listed(perform) == dict.fromkeys(
        [f"file:{town / 'ferry.md'}", f"file:{town / 'tea.txt'}", *chats(town)], "indexed"
    )


async def test_progress_runs_from_nothing_to_all_in_both_stages(perform: Perform, town: Path) -> None:
    steps = [event for event in await perform(Ingest((str(town),), LOCAL)) if isinstance(event, Advanced)]
    for stage, total in (("reading", 3), ("indexing", 4)):
        done = [step.done for step in steps if step.stage == stage]
        assert done == sorted(done)
        assert {step.total for step in steps if step.stage == stage} == {total}
        assert done[-1] == total


async def test_a_second_run_changes_nothing(perform: Perform, town: Path) -> None:
    await perform(Ingest((str(town),), LOCAL))
    told = end(await perform(Ingest((str(town),), LOCAL)))
    assert (told.documents, told.changed) == (4, 0)


async def test_an_unchanged_file_is_not_even_read_again(perform: Perform, town: Path) -> None:
    path = town / "tea.txt"
    await perform(Ingest((str(path),), LOCAL))
    seen = path.stat()
    path.write_bytes(b"\0" * seen.st_size)
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    told = end(await perform(Ingest((str(path),), LOCAL)))
    assert (told.changed, told.failures) == (0, ())


async def test_a_changed_file_and_a_longer_chat_are_taken_in_anew(perform: Perform, town: Path) -> None:
    await perform(Ingest((str(town),), LOCAL))
    (town / "tea.txt").write_text("Tea is no longer served.")
    with (town / "harbour.jsonl").open("a") as file:
        file.write("\n" + json.dumps({"id": "m3", "user": "Ada", "text": "Now?", "time": "2026-05-12T14:05:00Z"}))
    assert end(await perform(Ingest((str(town),), LOCAL))).changed == 2


async def test_a_conversation_that_left_the_export_is_forgotten(perform: Perform, town: Path) -> None:
    path = town / "harbour.jsonl"
    await perform(Ingest((str(town),), LOCAL))
    path.write_text(path.read_text().splitlines()[1])
    assert end(await perform(Ingest((str(path),), LOCAL))).documents == 1
    assert {key for key in await listed(perform) if key.startswith("chat:")} == set(chats(town, "m2"))


async def test_exports_of_one_name_do_not_overwrite_each_other(perform: Perform, town: Path) -> None:
    (town / "b").mkdir()
    shutil.copy(town / "harbour.jsonl", town / "b" / "harbour.jsonl")
    assert end(await perform(Ingest((str(town),), LOCAL))).changed == 6
    assert len(await listed(perform)) == 6


async def test_an_unchanged_export_is_not_even_read_again(perform: Perform, town: Path) -> None:
    path = town / "harbour.jsonl"
    await perform(Ingest((str(path),), LOCAL))
    seen, text = path.stat(), path.read_bytes()
    path.write_bytes(b"\0" * seen.st_size)
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    told = end(await perform(Ingest((str(path),), LOCAL)))
    assert (told.documents, told.changed, told.failures) == (2, 0, ())
    path.write_bytes(text)
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    await perform(Forget(chats(town)[0], (LOCAL,)))
    assert end(await perform(Ingest((str(path),), LOCAL))).changed == 1


async def test_a_forgotten_file_is_taken_in_again_when_it_is_named_again(perform: Perform, town: Path) -> None:
    path = town / "tea.txt"
    await perform(Ingest((str(path),), LOCAL))
    await perform(Forget(str(path), (LOCAL,)))
    assert await listed(perform) == {}
    assert end(await perform(Ingest((str(path),), LOCAL))).changed == 1


async def test_the_same_file_in_two_spaces_is_two_documents(perform: Perform, town: Path) -> None:
    path = town / "tea.txt"
    await perform(Ingest((str(path),), LOCAL))
    assert end(await perform(Ingest((str(path),), "team"))).changed == 1
    assert list(await listed(perform)) == [f"file:{path}"]
    assert list(await listed(perform, "team")) == [f"file:team:{path}"]


async def test_what_cannot_be_read_is_a_failure_of_its_own(perform: Perform, town: Path) -> None:
    (town / "photo.png").write_bytes(b"\x89PNG\r\n")
    (town / "empty.md").write_text("")
    (town / "broken.jsonl").write_text("Hello")
    told = end(await perform(Ingest((str(town),), LOCAL)))
    assert told.changed == 4
    assert {failure.what for failure in told.failures} == {
        str(town / name) for name in ("photo.png", "empty.md", "broken.jsonl")
    }
    assert all(failure.error and failure.hint for failure in told.failures)


async def test_what_the_model_refuses_is_a_failure_too_and_the_rest_is_taken_in(perform: Perform, town: Path) -> None:
    (town / "odd.txt").write_text(f"This is {UNREADABLE}.")
    told = end(await perform(Ingest((str(town),), LOCAL)))
    assert [(failure.what, failure.error) for failure in told.failures] == [
        ("odd.txt", "The parrot does not say that.")
    ]


async def test_a_path_that_leads_nowhere_is_an_error_before_anything_is_taken_in(perform: Perform, town: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        await perform(Ingest((str(town), str(town / "nowhere")), LOCAL))
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

    assert sorted([each async for each in completed(range(10), work, 3)]) == [number**2 for number in range(10)]
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
        [each async for each in completed(range(3), work, 3)]
    assert sorted(ended) == [0, 2]
