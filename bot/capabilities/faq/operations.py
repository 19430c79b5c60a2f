"""Write the page of frequent questions; nothing of it is stored, so that it is never older than its sources."""

from __future__ import annotations

import re
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.answers.footer import link_citations, source_urls
from bot.capabilities.management.space_questions import list_space_questions
from bot.capabilities.results import ExportLine
from bot.i18n import gettext
from bot.text.format import format_day, format_utc, pluralize
from bot.text.markdown import escape_markdown, markdown_link

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from datetime import datetime

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.faq.requests import GetFaq
    from bot.capabilities.results import OperationResult
    from bot.store import AnswerSource, VerifiedAnswer


_HEADING = re.compile(r"^(#{1,6})(?=\s)", re.MULTILINE)
NEWEST_FIRST = 200  # answers of a page


async def get_faq(deps: Deps, caller: Caller, request: GetFaq) -> AsyncGenerator[OperationResult]:
    """Yield the page as lines of Markdown. Raises NotFound for a channel that the caller cannot read."""
    parts = await deps.parts.open()
    if caller.kind != "person":
        asked = await list_space_questions(parts.store, caller.subject, deps.clock.now())
        questions = [OpenQuestion(question.question, question.count) for question in asked.questions]
        yield ExportLine(write_page([], questions, deps.clock.now()))
        return
    management = parts.require_management(caller.subject.platform)
    async with aclosing(management.perform_management(caller.subject, request)) as results:
        async for result in results:
            yield result


@dataclass(frozen=True, slots=True)
class Entry:
    """A verified answer. `verifier`: who verified it, by name; `link`: to the message where, empty for none."""

    answer: VerifiedAnswer
    verifier: str
    link: str


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that has no good answer yet, and how often it or one that is nearly the same was asked."""

    text: str
    count: int


def write_page(entries: Sequence[Entry], questions: Sequence[OpenQuestion], now: datetime, channel: str = "") -> str:
    """The page: each answer with its sources, by question; then the open questions, the most frequent first."""
    title = gettext("Frequent questions in {channel}").format(channel=escape_markdown(channel)) if channel else ""
    lines = [f"# {title or gettext('Frequent questions')}", "", gettext("As of {day}.").format(day=format_day(now))]
    for entry in sorted(entries, key=lambda each: each.answer.question.casefold())[:NEWEST_FIRST]:
        lines += ["", *_write_entry(entry)]
    if questions:
        lines += ["", f"## {gettext('Questions without an answer yet')}", "", *map(_write_question, questions)]
    if not entries and not questions:
        lines += ["", gettext("There are no verified answers and no open questions that you can read.")]
    return "\n".join(lines)


def _write_entry(entry: Entry) -> list[str]:
    answer, day = entry.answer, format_day(entry.answer.verified_at)
    text = link_citations(_HEADING.sub(r"\\\1", answer.text), source_urls(answer.sources))
    verified = gettext("Verified by {name} on {day}").format(name=escape_markdown(entry.verifier), day=day)
    told = [_write_source(source) for source in answer.sources]
    told.append(f"- {markdown_link(verified, entry.link) if entry.link else verified}")
    return [f"## {escape_markdown(answer.question)}", "", text, "", *told]


def _write_source(source: AnswerSource) -> str:
    """Number, title, link and time of a source."""
    title = markdown_link(source.title, source.link) if source.link else escape_markdown(source.title)
    return f"- [{source.number}] {title}" + (f", {format_utc(source.time)}" if source.time else "")


def _write_question(question: OpenQuestion) -> str:
    times = pluralize(question.count, "{count} time", "{count} times")
    return f"- {escape_markdown(question.text)} ({times})"
