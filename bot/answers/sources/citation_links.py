"""Turn citation numbers into links to the cited messages and pages. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from bot.text.sanitize import SAFE_CHARACTERS
from engine import RewriteStep, StreamRewriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bot.store import AnswerSource
    from engine import Source

WEB_SCHEMES = ("https://", "http://")
CITATION_NUMBER = re.compile(r"\[(\d{1,9})\](?!\()")


def source_urls(sources: Iterable[Source | AnswerSource]) -> Mapping[int, str]:
    """The URLs of the sources that have one, by number."""
    return {
        each.number: quote(each.link, safe=SAFE_CHARACTERS) for each in sources if each.link.startswith(WEB_SCHEMES)
    }


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
