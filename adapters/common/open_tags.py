"""Read the messages of a page of HTML, without letting tags that never end cost the time of all that follows. Pure."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Elements without an end tag.
VOID_TAGS = frozenset({"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
_OPEN_END = re.compile(r"<([^<>!][^<>]*)(?=<)")


def escape_open_tags(text: str) -> str:
    """A piece of HTML in which a tag that another one begins in is text."""
    return _OPEN_END.sub(r"&lt;\1", text)


class MessagePage(HTMLParser):
    """Collects the messages of a page in `done`."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.done: list[dict[str, Any]] = []

    def finish(self) -> None:
        """End the message that is being read."""
        raise NotImplementedError

    def take(self, *, is_end: bool = False) -> list[dict[str, Any]]:
        """The messages that were completed since the last call."""
        if is_end:
            self.finish()
        found, self.done = self.done, []
        return found

    def read(self, chunks: Iterable[str]) -> Iterator[dict[str, Any]]:
        """The messages of a page that is read in pieces."""
        for chunk in chunks:
            self.feed(escape_open_tags(chunk))
            yield from self.take()
        self.close()
        yield from self.take(is_end=True)
