from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from bot import texts
from bot.admin.results import (
    AnswerDelta,
    AnswerEnd,
    Completed,
    DocumentList,
    ExportLine,
    ProgressUpdate,
    RetrievalSummary,
)
from bot.cli.render import console
from bot.cli.render.console import Screen
from engine.errors import NotFound
from engine.models import Source
from engine.storage.ledger.records.query_results import DocumentInfo
from engine.usage import Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.admin.results import OperationResult

SOURCE = Source(1, "d", "p", "Rules", "p. 3", "", "", None, "Nine crowns.", "s", "r", "c")


async def stream(*events: OperationResult) -> AsyncGenerator[OperationResult]:
    for event in events:
        yield event


class Seen:
    """A screen, and what stands on it."""

    def __init__(self, *, terminal: bool) -> None:
        self.files = io.StringIO(), io.StringIO()
        out, err = (
            Console(file=file, force_terminal=terminal, width=40, highlight=False, color_system="standard")
            if terminal
            else Console(file=file, width=40, highlight=False)
            for file in self.files
        )
        self.screen = Screen(out, err)

    @property
    def out(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.files[0].getvalue())

    @property
    def err(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.files[1].getvalue())


async def test_an_answer_is_written_piece_by_piece_with_its_sources_below() -> None:
    seen = Seen(terminal=True)
    pieces = [AnswerDelta(piece) for piece in ("The fee for a berth is nine crowns a ", "night [1", "].")]
    usage = (Usage("answer", "m", 10, 5),)
    given = await seen.screen.show(stream(RetrievalSummary(1, 0, 1), *pieces, AnswerEnd((SOURCE,), usage)))
    assert seen.out.startswith("The fee for a berth is nine crowns a\nnight [1].\n\n[1] Rules · p. 3\n")
    assert seen.out.endswith("10 tokens in, 5 out\n")
    assert len(given) == 5


async def test_a_half_answer_says_so_below_it() -> None:
    seen = Seen(terminal=False)
    await seen.screen.show(stream(AnswerDelta("The fee is"), AnswerEnd((), (), cut_off=True)))
    assert " ".join(seen.out.split()).startswith(f"The fee is {texts.ANSWER_CUT_OFF}")
    assert "THREADLORE_LLM_MAX_OUTPUT_TOKENS" in seen.out


async def test_an_answer_that_a_filter_stopped_says_so_and_nothing_of_its_length() -> None:
    seen = Seen(terminal=False)
    await seen.screen.show(stream(AnswerDelta("The fee is"), AnswerEnd((), (), cut_off=True, filtered=True)))
    assert " ".join(seen.out.split()).startswith(f"The fee is {texts.ANSWER_FILTERED}")
    assert "THREADLORE_LLM_MAX_OUTPUT_TOKENS" not in seen.out


async def test_without_a_terminal_an_answer_is_not_broken_into_lines() -> None:
    seen = Seen(terminal=False)
    await seen.screen.show(stream(AnswerDelta("word " * 20), AnswerEnd((), ())))
    assert seen.out == "word " * 19 + "word\n"


async def test_an_escape_in_an_answer_is_not_obeyed() -> None:
    seen = Seen(terminal=False)
    await seen.screen.show(stream(AnswerDelta("\x1b[2Jgone"), AnswerEnd((), ())))
    assert "\x1b" not in seen.files[0].getvalue()


async def test_progress_is_a_bar_on_a_terminal() -> None:
    seen = Seen(terminal=True)
    await seen.screen.show(stream(ProgressUpdate("parsing", 1, 2), ProgressUpdate("parsing", 2, 2), Completed("Read.")))
    assert "2/2" in seen.err
    assert "━" in seen.err
    assert seen.out == "Read.\n"


async def test_progress_is_a_line_a_stage_elsewhere() -> None:
    seen = Seen(terminal=False)
    steps = [
        ProgressUpdate("parsing", 1, 2),
        ProgressUpdate("parsing", 2, 2),
        ProgressUpdate("indexing", 5, 5),
        ProgressUpdate("thinking"),
    ]
    await seen.screen.show(stream(*steps))
    assert re.fullmatch(r"parsing: 2 of 2, \d+\.\d s\nindexing: 5 of 5, \d+\.\d s\n", seen.err)
    assert not seen.out


async def test_elsewhere_a_line_now_and_then_tells_how_far_one_large_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "PROGRESS_INTERVAL_SECONDS", 0.0)
    seen = Seen(terminal=False)
    steps = [ProgressUpdate("indexing", 0, 1, remaining=f"{left} chunks to read") for left in (900, 500)]
    await seen.screen.show(stream(*steps))
    assert re.fullmatch(
        r"indexing: 0 of 1 \(900 chunks to read\), \d+ s\nindexing: 0 of 1 \(500 chunks to read\), \d+ s\n"
        r"indexing: 0 of 1, \d+\.\d s\n",
        seen.err,
    )


async def test_on_a_terminal_what_is_left_within_a_file_stands_beside_the_bar() -> None:
    seen = Seen(terminal=True)
    await seen.screen.show(stream(ProgressUpdate("indexing", 0, 1, remaining="900 chunks to read"), Completed("Read.")))
    assert "900 chunks" in " ".join(seen.err.split())


@pytest.mark.parametrize("terminal", [True, False])
async def test_what_the_work_waits_for_is_told_once(*, terminal: bool) -> None:
    seen = Seen(terminal=terminal)
    steps = [
        ProgressUpdate("indexing", done, 3, trouble) for done, trouble in ((0, ""), (0, "No model."), (1, "No model."))
    ]
    await seen.screen.show(stream(*steps))
    assert seen.err.count("waiting: No model.") == 1


async def test_lines_are_written_as_they_are() -> None:
    seen = Seen(terminal=False)
    long = '{"text": "[red]' + "x" * 100 + '"}'
    await seen.screen.show(stream(ExportLine(long)))
    assert seen.out == f"{long}\n"


async def test_gathering_shows_nothing_but_progress() -> None:
    seen = Seen(terminal=False)
    assert await seen.screen.collect(stream(ProgressUpdate("parsing", 1, 1), Completed("x"))) == [
        ProgressUpdate("parsing", 1, 1),
        Completed("x"),
    ]
    assert not seen.out
    assert "parsing" in seen.err


def test_trouble_is_a_sentence_and_a_hint_on_the_other_stream() -> None:
    seen = Seen(terminal=False)
    seen.screen.show_error(NotFound("There is no [x].", hint="Look elsewhere."))
    assert seen.err == "There is no [x].\nLook elsewhere.\n"
    assert not seen.out


@pytest.mark.parametrize("width", [20, 40, 79, 80, 100, 119, 120, 200])
@pytest.mark.parametrize("length", [8, 40, 90, 300])
async def test_keys_of_documents_are_whole_however_narrow_the_terminal(width: int, length: int) -> None:
    keys = [f"file:/{letter * length}/end" for letter in "ab"]
    title = "Harbour rules and other things to know"
    known = (DocumentInfo(key, "s", "files", "file", title, "", None, False, "indexed", "", "", 12, 12) for key in keys)
    file = io.StringIO()
    await Screen(Console(file=file, width=width)).show(stream(DocumentList(tuple(known))))
    assert all(key in file.getvalue() for key in keys)
    assert "indexed" in file.getvalue()
