"""Write citations that enclose what they support behind it: `<co: 1>Nine</co: 1>`, `<cite index="1-2">Nine</cite>`."""

from __future__ import annotations

import re

from engine.text.stream_rewriter import RewriteStep, StreamRewriter

_NAMES = "index|indexes|indices|ids|source|sources|doc|docs|document|documents|doc_id|source_id|source_ids"
_OPENING = re.compile(
    rf"<(?:co(?::\s?(?P<co>[\d,\s]{{1,40}}))?|cite\s{{1,4}}(?:{_NAMES})\s?=\s?[\"']?(?P<cite>[\d,;:\s-]{{1,60}})[\"']?)\s?>",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"</(?:co(?::\s?(?P<co>[\d,\s]{1,40}))?|cite)\s?>", re.IGNORECASE)
_PARTIAL = re.compile(r"</?(?:co(?::[\d,\s]{0,42})?|c(?:i(?:t(?:e(?:\s[^<>\n]{0,80})?)?)?)?)?\Z", re.IGNORECASE)
_NUMBER = re.compile(r"(?:\A|[,;])\s?(\d{1,4})")  # behind a hyphen or a colon stands a sentence of the source


class WrappedCitations(StreamRewriter):
    """Drops such tags, and writes the numbers that were given where the text that they enclose ends."""

    special = re.compile("<")

    def __init__(self, given_numbers: frozenset[int]) -> None:
        super().__init__()
        self._given = given_numbers
        self._open: list[int] | None = None  # of the tag that is not closed yet

    def rewrite_special(self, at: int, *, final: bool) -> RewriteStep | None:
        if opening := _OPENING.match(self.buffer, at):
            self._open = self._read(opening["co"] or opening["cite"])
            return RewriteStep(opening.end(), "")
        closing = _CLOSING.match(self.buffer, at)
        if closing and self._open is not None:
            numbers, self._open = self._read(closing["co"]) or self._open, None
            cited = "".join(f"[{number}]" for number in numbers)
            return RewriteStep(closing.end(), f" {cited}" if cited else "")
        return None if _PARTIAL.match(self.buffer, at) and not final else self.plain_step(at)

    def _read(self, numbers: str | None) -> list[int]:
        found = (int(digits) for digits in _NUMBER.findall(numbers or ""))
        return [number for number in dict.fromkeys(found) if number in self._given]
