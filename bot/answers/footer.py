"""Build the footer of an answer (sources, notices and buttons), and link the citations in its text. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.i18n import gettext
from bot.platform.models import AnswerFooter, Button, FooterSource
from bot.store import AnswerSource
from bot.text.excerpts import build_excerpt, lines_citing, source_title, strip_speaker, truncate_line
from bot.text.markdown import is_web_link, sanitize_inline, web_address
from bot.texts import review as review_texts
from engine.text.stream_rewriter import RewriteStep, StreamRewriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from engine import Source

MAX_TITLE_LENGTH, MAX_EXCERPT_LENGTH = 100, 140  # characters

_MINUTE_FORMAT = "%Y-%m-%d %H:%M"
CITATION_NUMBER = re.compile(r"\[(\d{1,9})\](?!\()")


def build_answer_source(source: Source, answer: str) -> AnswerSource:
    """A cited source with what its footer line needs."""
    words = build_excerpt(strip_speaker(source.text), lines_citing(answer, source.number), MAX_EXCERPT_LENGTH)
    return AnswerSource(
        source.number,
        truncate_line(sanitize_inline(format_source_title(source)), MAX_TITLE_LENGTH),
        source.link if is_web_link(source.link) else "",
        sanitize_inline(words),
        source.document,
        source.passage,
        source.space,
        source.room,
        message_time(source),
    )


def format_source_title(source: Source) -> str:
    """The title of a source: document, section, and date unless it is shown as an instant."""
    name, label = source_title(source.title, source.label)
    day = f"{source.time:%Y-%m-%d}" if source.time else ""
    if instant := message_time(source):
        return " · ".join(filter(None, (name, label.removesuffix(f"{instant:{_MINUTE_FORMAT}}").rstrip(", "))))
    section = "" if name.startswith(label) else label
    return " · ".join(filter(None, (name, section, "" if day in f"{name} {label}" else day)))


def message_time(source: Source) -> datetime | None:
    """The time of a source that is a message; None for documents, which have a day at most."""
    return source.time if source.time and source.label.endswith(f"{source.time:{_MINUTE_FORMAT}}") else None


def build_answer_footer(
    answer: str,
    sources: Iterable[AnswerSource],
    notes: Iterable[str],
    *,
    private: bool,
    share: bool,
    further: Iterable[Button] = (),
) -> AnswerFooter:
    """Build the footer; `share`: a private answer can be shared in a channel, which comes before its sources.

    With one of the `further` buttons, there are at most four besides suggested questions.
    """
    cited = tuple(FooterSource(source.number, source.title, source.link, time=source.time) for source in sources)
    buttons = [Button("👍", "up", answer), Button("👎", "down", answer)]
    if private and share and cited:
        buttons.append(Button(gettext("Share to channel"), "share", answer))
    elif cited:
        buttons.append(Button(gettext(review_texts.SOURCES_BUTTON), "sources", answer))
    return AnswerFooter(answer, cited, " ".join(filter(None, notes)), (*buttons, *further))


def source_urls(sources: Iterable[Source | AnswerSource]) -> Mapping[int, str]:
    """The URLs of the sources that have one, by number."""
    addresses = {source.number: web_address(source.link) for source in sources}
    return {number: address for number, address in addresses.items() if address}


def link_citations(text: str, links: Mapping[int, str]) -> str:
    """The text with `[1]` as `[[1]](address)`, outside of code; a longer text gives a longer result."""
    if not links:
        return text
    scanner = CitationLinker(links)
    return scanner.feed(text) + scanner.close()


class CitationLinker(StreamRewriter):
    """Rewrites the numbers of citations."""

    special = re.compile(r"[\[`]")

    def __init__(self, links: Mapping[int, str]) -> None:
        super().__init__()
        self.links = links

    def rewrite_special(self, at: int, *, final: bool) -> RewriteStep | None:
        del final  # the text is given as a whole
        found = CITATION_NUMBER.match(self.buffer, at)
        link = self.links.get(int(found[1])) if found else None
        if found is None or link is None:
            return RewriteStep(at + 1, "[")
        picture = " " if self.tail.endswith("!") else ""
        return RewriteStep(found.end(), f"{picture}[{found[0]}]({link})")
