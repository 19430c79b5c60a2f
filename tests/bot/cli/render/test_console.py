from __future__ import annotations

import io
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from rich.console import Console

from bot import texts
from bot.capabilities.results import (
    AnswerDelta,
    AnswerEnd,
    Completed,
    Corrected,
    DocumentList,
    ExportLine,
    OperationResult,
    ProgressUpdate,
)
from bot.cli.render.console import HINT, Screen, model_hint
from bot.settings import Settings
from engine.errors import NotFound
from engine.usage import Usage
from tests.support.builders import make_listed, make_source
from tests.support.clock import ManualClock

SOURCE = make_source(title="Rules", label="p. 3", time=None, link="")
MAX_OUTPUT = "THREADLORE_LLM_MAX_OUTPUT_TOKENS"


async def stream(*events: OperationResult) -> AsyncGenerator[OperationResult]:
    for event in events:
        yield event


class RecordedScreen:
    """A screen, and what is on it without escape sequences."""

    def __init__(self, *, terminal: bool, width: int = 40) -> None:
        self.clock = ManualClock()
        self.files = io.StringIO(), io.StringIO()
        colors = {"force_terminal": True, "color_system": "standard"} if terminal else {}
        out, err = (Console(file=file, width=width, highlight=False, **colors) for file in self.files)  # type: ignore[arg-type]
        self.screen = Screen(self.clock, out, err)

    async def show(self, *events: OperationResult) -> list[OperationResult]:
        return await self.screen.show(stream(*events))

    async def show_slowly(self, seconds: float, *events: OperationResult) -> None:
        """Show events, before each of which some seconds pass."""

        async def arrive() -> AsyncGenerator[OperationResult]:
            for event in events:
                self.clock.advance(seconds)
                yield event

        await self.screen.show(arrive())

    @property
    def out(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.files[0].getvalue())

    @property
    def err(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.files[1].getvalue())


@pytest.fixture
def pipe() -> RecordedScreen:
    return RecordedScreen(terminal=False)


async def test_what_a_correction_changed_is_shown(pipe: RecordedScreen) -> None:
    await pipe.show(Corrected("“HTF” and “Harbor Trust Fund” are separate.", "open"))
    assert "are separate" in " ".join(pipe.out.split())


@pytest.fixture
def terminal() -> RecordedScreen:
    return RecordedScreen(terminal=True)


def progress(stage: str, done: int = 0, total: int = 0, trouble: str = "", remaining: str = "") -> ProgressUpdate:
    return ProgressUpdate(stage, done, total, trouble, remaining)


async def test_an_answer_is_written_piece_by_piece_with_its_sources_below(terminal: RecordedScreen) -> None:
    pieces = [AnswerDelta(piece) for piece in ("The fee for a berth is nine crowns a ", "night [1", "].")]
    end = AnswerEnd((SOURCE,), (Usage("answer", "m", 10, 5),))
    assert len(await terminal.show(*pieces, end)) == 4
    assert terminal.out.startswith("The fee for a berth is nine crowns a\nnight [1].\n\n[1] Rules · p. 3\n")
    assert terminal.out.endswith("10 tokens in, 5 out, price unknown\n")


@pytest.mark.parametrize(("filtered", "notice"), [(False, texts.ANSWER_CUT_OFF), (True, texts.ANSWER_FILTERED)])
async def test_half_an_answer_says_so_and_which_setting_changes_it(
    pipe: RecordedScreen, *, filtered: bool, notice: str
) -> None:
    await pipe.show(AnswerDelta("The fee is"), AnswerEnd((), (), cut_off=True, filtered=filtered))
    assert " ".join(pipe.out.split()).startswith(f"The fee is {notice}")
    assert (MAX_OUTPUT in pipe.out) is not filtered


@pytest.mark.parametrize(
    ("events", "out"),
    [
        ([AnswerDelta("word " * 20), AnswerEnd((), ())], "word " * 19 + "word\n"),
        ([AnswerDelta("\x1b[2Jgone"), AnswerEnd((), ())], "[2Jgone\n"),
        ([ExportLine(line := '{"text": "[red]' + "x" * 100 + '"}')], f"{line}\n"),
    ],
    ids=["long lines", "escape sequences", "export"],
)
async def test_without_a_terminal_text_is_written_as_it_is(
    pipe: RecordedScreen, events: list[OperationResult], out: str
) -> None:
    await pipe.show(*events)
    assert pipe.files[0].getvalue() == out


async def test_progress_is_a_bar_on_a_terminal_with_what_is_left_of_a_file() -> None:
    terminal = RecordedScreen(terminal=True, width=100)
    left = progress("indexing", 0, 1, remaining="900 pieces of text to read")
    await terminal.show(progress("parsing", 1, 2), progress("parsing", 2, 2), left, Completed("Read."))
    assert "reading 2 of 2 files" in terminal.err
    assert "━" in terminal.err
    assert "indexing 0 of 1 document, 900 pieces" in " ".join(terminal.err.split())
    assert terminal.out == "Read.\n"


async def test_progress_is_a_line_a_stage_elsewhere(pipe: RecordedScreen) -> None:
    stages = [progress("parsing", 1, 2), progress("parsing", 2, 2), progress("indexing", 5, 5), progress("thinking")]
    await pipe.show_slowly(1.5, *stages)
    assert pipe.err == "reading 2 of 2 files, 3.0 s\nindexing 5 of 5 documents, 1.5 s\n"
    assert not pipe.out


async def test_elsewhere_a_line_now_and_then_says_how_much_of_a_large_file_is_left(pipe: RecordedScreen) -> None:
    lefts = (900, 700, 600, 500)
    await pipe.show_slowly(5.0, *(ProgressUpdate("indexing", 0, 1, left=left) for left in lefts))
    assert pipe.err == ("indexing 0 of 1 document, about 20 seconds (10 s so far)\nindexing 0 of 1 document, 15.0 s\n")


@pytest.mark.parametrize("width", [40, 80])
async def test_progress_fits_on_one_line_and_says_about_how_long_it_takes(width: int) -> None:
    recorded = RecordedScreen(terminal=True, width=width)
    steps = [ProgressUpdate("parsing", done, 42) for done in (0, 1, 2, 3)]
    await recorded.show_slowly(10.0, *steps, ProgressUpdate("indexing", 0, 9, remaining="9 names to update"))
    lines = [part for part in re.split(r"[\r\n]|\x1b\[[0-9;?]*[A-Za-z]", recorded.err) if part.strip()]
    shown = "reading 3 of 42, about 6 minutes" if width == 40 else "reading 3 of 42 files, about 6 minutes"
    assert shown in " ".join(" ".join(lines).split())
    assert all(len(each) <= width for each in lines)


@pytest.mark.parametrize("is_terminal", [True, False])
async def test_what_the_work_waits_for_is_mentioned_once(*, is_terminal: bool) -> None:
    recorded = RecordedScreen(terminal=is_terminal)
    waiting = [
        progress("indexing", done, 3, trouble) for done, trouble in ((0, ""), (0, "No model."), (1, "No model."))
    ]
    await recorded.show(*waiting)
    assert recorded.err.count("waiting: No model.") == 1


async def test_collecting_shows_nothing_but_progress(pipe: RecordedScreen) -> None:
    events: list[OperationResult] = [progress("parsing", 1, 1), Completed("x")]
    assert await pipe.screen.collect(stream(*events)) == events
    assert not pipe.out
    assert "reading 1 of 1 file" in pipe.err


def test_an_error_is_a_sentence_and_a_hint_on_the_other_stream(pipe: RecordedScreen) -> None:
    pipe.screen.show_error(NotFound("There is no [x].", hint="Look elsewhere."))
    assert (pipe.out, pipe.err) == ("", "There is no [x].\nLook elsewhere.\n")


@pytest.mark.parametrize("width", [20, 40, 79, 80, 100, 119, 120, 200])
@pytest.mark.parametrize("length", [8, 40, 90, 300])
async def test_keys_of_documents_are_whole_however_narrow_the_terminal(width: int, length: int) -> None:
    recorded, keys = RecordedScreen(terminal=False, width=width), [f"file:/{letter * length}/end" for letter in "ab"]
    title = "Harbour rules and other things to know"
    await recorded.show(DocumentList(tuple(make_listed(key, title, passages=12, chunks=12) for key in keys)))
    assert all(key in recorded.out for key in keys)
    assert "indexed" in recorded.out


def test_a_person_is_told_once_how_a_model_is_set_unless_one_is(tmp_path: Path) -> None:
    settings = [Settings(data_dir=tmp_path, llm_model=model) for model in ("openai/some", "", "")]
    assert [model_hint(setting) for setting in settings] == ["", HINT, ""]


async def test_the_hint_stands_below_the_first_answer_with_sources(tmp_path: Path) -> None:
    recorded = RecordedScreen(terminal=False, width=400)
    out, err = (Console(file=file, width=400) for file in recorded.files)
    recorded.screen = Screen(recorded.clock, out, err, lambda: model_hint(Settings(data_dir=tmp_path)))
    await recorded.show(AnswerDelta("Nothing."), AnswerEnd((), ()))
    assert HINT not in recorded.err
    for _ in range(2):
        await recorded.show(AnswerDelta("Nine crowns [1]."), AnswerEnd((SOURCE,), ()))
    assert recorded.err.count(HINT) == 1
