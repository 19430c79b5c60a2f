"""List the decisions and tasks of what the caller can read; nothing of it is stored anywhere."""

from __future__ import annotations

import asyncio
import csv
import io
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.capabilities.asking.asker import resolve_all
from bot.capabilities.decisions.requests import DecisionList
from bot.capabilities.results import ExportLine
from bot.text.excerpts import source_title, strip_speaker, truncate_line
from bot.text.format import format_utc
from bot.text.search_filters import parse_search_filters
from engine import Filters, Question
from engine.errors import InvalidQuestion
from engine.llm.offline.points.register import list_entries
from engine.models import Overview

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from datetime import datetime

    from bot.capabilities.caller import Caller
    from bot.capabilities.decisions.requests import ListDecisions
    from bot.capabilities.deps import Deps
    from engine import Source
    from engine.llm.offline.points.register import Entry

COLUMNS = ("kind", "what", "who", "due", "said", "where", "link", "state", "replaced by")
MAX_PAGES = 10  # of passages, the newest; each has up to 200 chunks
PAGE_TOKENS = 100_000
MAX_TEXT = 400  # characters of a cell
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets calculate


async def list_decisions(
    deps: Deps, caller: Caller, request: ListDecisions
) -> AsyncGenerator[DecisionList | ExportLine]:
    """Yield the newest decisions and tasks of the caller's scope. Raises InvalidQuestion for an unknown time."""
    now = deps.clock.now()
    rooms = await resolve_all(deps, caller, [request.channel]) if request.channel else frozenset[str]()
    since, until = (
        _parse_time(name, words, now) for name, words in (("after", request.since), ("until", request.until))
    )
    sources, looked_since = await _load(deps, caller, Filters(rooms=rooms, since=since, until=until))
    entries = await asyncio.to_thread(list_entries, sources)
    kept = [entry for entry in entries if _matches(entry, request)][-request.limit :][::-1]
    rows = tuple(_describe(entry) for entry in kept)
    if request.as_csv:
        yield ExportLine(_to_csv(rows).rstrip("\r\n"))
    else:
        yield DecisionList(COLUMNS, rows, format_utc(looked_since) if looked_since else "")


async def _load(deps: Deps, caller: Caller, within: Filters) -> tuple[list[Source], datetime | None]:
    """The passages that match, and since when they are complete; None if they all are."""
    found = dict[tuple[str, str, str], "Source"]()
    for _ in range(MAX_PAGES):
        question = Question("decisions", caller.scope, filters=within, overview=Overview("decisions"))
        context = await deps.engine.retrieve(replace(question, max_total_tokens=PAGE_TOKENS))
        found |= {(source.document, source.passage, source.text): source for source in context.sources}
        oldest = min((source.time for source in context.sources if source.time), default=None)
        if oldest is None or context.overview is None or not context.overview.truncated:
            return list(found.values()), None
        within = replace(within, until=oldest - timedelta(microseconds=1))
    return list(found.values()), within.until


def _parse_time(name: str, words: str, now: datetime) -> datetime | None:
    """A time as typed in a question. Raises InvalidQuestion."""
    if not words:
        return None
    found = parse_search_filters(f"{name}:{words}", now)
    time = found.since if name == "after" else found.until
    if time is None:
        raise InvalidQuestion(f"“{words}” is no time.", hint="For example 2026-11-20, or 7d.")
    return time


def _matches(entry: Entry, request: ListDecisions) -> bool:
    state = "replaced" if entry.replaced_by is not None else "open"
    person = request.person.removeprefix("@").casefold()
    named = not person or person in entry.who.casefold() or person in entry.source.author.casefold()
    return request.entry_kind in {"", entry.kind} and request.state in {"", state} and named


def _describe(entry: Entry) -> tuple[str, ...]:
    source, newer = entry.source, entry.replaced_by
    title, location = source_title(source.title, source.label)
    where = " › ".join(filter(None, (title, "" if source.author else location)))
    changed = truncate_line(entry.newer_text, MAX_TEXT)
    if newer is not None and newer.link:
        changed = f"{changed} ({newer.link})"
    said = format_utc(source.time) if source.time else ""
    state = "replaced" if newer is not None else "open"
    what = truncate_line(strip_speaker(entry.text), MAX_TEXT)
    return entry.kind, what, entry.who, entry.due, said, where, source.link, state, changed


def _to_csv(rows: Sequence[Sequence[str]]) -> str:
    """Rows below their headings; a cell that a spreadsheet would calculate begins with an apostrophe."""
    written = io.StringIO()
    lines = csv.writer(written)
    lines.writerow(COLUMNS)
    for row in rows:
        lines.writerow([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in row])
    return written.getvalue()
