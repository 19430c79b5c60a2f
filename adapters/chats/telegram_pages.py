"""Read the pages that Telegram Desktop writes as HTML, as rows in the shape of its JSON. Pure."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from adapters.common.open_tags import VOID_TAGS, MessagePage, escape_open_tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = re.compile(r"messages(?P<number>\d{0,6})\.html?")
MISSING_FILE = "(File not included)"
# What an element holds, by a word of its class; the first that fits.
ROLES = ("from_name", "reply_to", "question", "answer", "title", "status", "text", "date")
# Kinds of media whose words are all that there is of them, and those that are files.
WORDED = {"media_contact", "media_venue", "media_location", "media_live_location"}
FILES = {
    *("media_photo", "media_video", "media_file", "media_voice_message", "media_audio_file"),
    *("photo_wrap", "video_file_wrap", "sticker_wrap"),
}
REPLY = re.compile(r"#go_to_message(\d{1,19})")
TIME = re.compile(r"(\d{2})\.(\d{2})\.(\d{4}) (\d{2}:\d{2}:\d{2})(?: UTC([+-]\d{2}:\d{2}))?")


class TelegramPage(MessagePage):
    """Collects the messages of a page as rows. `title`: the name of the chat.

    `author`: who wrote the message before, for one that is joined to it.
    """

    def __init__(self, author: str = "") -> None:
        super().__init__()
        self.title = ""
        self.author = author
        self._stack: list[tuple[str, str, str]] = []  # tags with their roles and links
        self._row: dict[str, Any] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = {name: value or "" for name, value in attrs}
        classes = facts.get("class", "").split()
        if "message" in classes and facts.get("id", "").startswith("message"):
            self._begin(facts["id"].removeprefix("message"), is_service="service" in classes)
        role = next((word for word in ROLES if word in classes), "")
        if "forwarded" in classes and "body" in classes:
            role = "forwarded"
        if self._row is not None:
            self._note(role, classes, facts)
        if tag == "br":
            self._write("\n")
        elif tag not in VOID_TAGS:
            self._stack.append((tag, role, facts.get("href", "")))

    def handle_endtag(self, tag: str) -> None:
        if not any(open_tag == tag for open_tag, _, _ in self._stack[-20:]):
            return
        while self._stack:
            closed, _, link = self._stack.pop()
            if closed == tag:
                if tag == "a" and link.startswith(("http://", "https://")):
                    self._write(f"\0{link}\0")
                return

    def handle_data(self, data: str) -> None:
        if self._row is None:
            if self._stack and self._stack[-1][1] == "text" and not self.title:
                self.title = " ".join(data.split())
            return
        self._write(_BLANKS.sub(" ", data))

    def _write(self, text: str) -> None:
        roles = [role for _, role, _ in self._stack if role]
        if self._row is not None and roles:
            key = f"forwarded_{roles[-1]}" if roles[-1] == "from_name" and "forwarded" in roles else roles[-1]
            self._row["parts"].setdefault(key, []).append(text)

    def _begin(self, id_: str, *, is_service: bool) -> None:
        self.finish()
        self._row = {"id": id_, "type": "service" if is_service else "message", "parts": {}}

    def _note(self, role: str, classes: list[str], facts: dict[str, str]) -> None:
        """Keep what the attributes of an element say of the open message."""
        row, href = self._row or {}, facts.get("href", "")
        if role == "date" and "date" not in row:
            row["date"] = _read_time(facts.get("title", ""))
        if match := REPLY.search(href):
            row["reply_to_message_id"] = match[1]
        row["is_worded"] = row.get("is_worded") or not WORDED.isdisjoint(classes)
        if not FILES.isdisjoint(classes):
            row["file"] = href if href and "://" not in href else MISSING_FILE
        if role in {"question", "answer"}:
            row["parts"].setdefault(role, []).append("\n- " if role == "answer" else "")

    def finish(self) -> None:
        row, self._row = self._row, None
        if row is None or row["id"].startswith("-"):
            return
        parts = {key: _clean("".join(each)) for key, each in row.pop("parts").items()}
        self.author = parts.get("from_name") or self.author
        origin = _TIME_AT_END.sub("", parts.get("forwarded_from_name", "")).strip()
        worded = ("title", "status") if row.pop("is_worded", False) else ()
        words = [parts.get(key, "") for key in ("text", "question", "answer", *worded)]
        if row.get("file") == MISSING_FILE:
            row["file_name"] = parts.get("title", "")
        row |= {"from": self.author, "text": "\n".join(filter(None, words)), "forwarded_from": origin}
        self.done.append(row)


_BLANKS = re.compile(r"\s+")
_TIME_AT_END = re.compile(r"(?<!\d)\d{2}\.\d{2}\.\d{4} \d{2}:\d{2}:\d{2}\s*$")
_LINK = re.compile(r"([^\0\n]*)\0([^\0\n]*)\0")


def _clean(text: str) -> str:
    """The words of an element by lines; a link that shows other words has its address behind them."""
    shown = _LINK.sub(lambda each: each[1] if each[2] in each[1] else f"{each[1]} ({each[2]})", text)
    lines = (" ".join(line.split()) for line in shown.replace("\0", "").split("\n"))
    return "\n".join(lines).strip()


def _read_time(text: str) -> str:
    """A time such as 13.05.2023 14:08:11 UTC+02:00, or without a zone, in ISO form; "" for another text."""
    match = TIME.fullmatch(text.strip())
    if match is None:
        return ""
    day, month, year, clock, zone = match.groups()
    try:
        return datetime.fromisoformat(f"{year}-{month}-{day}T{clock}{zone or ''}").isoformat()
    except ValueError:
        return ""


def read_title(chunks: Iterable[str]) -> str:
    """The name of the chat of a page; "" if the page is no export of a chat."""
    page = TelegramPage()
    for chunk in chunks:
        page.feed(escape_open_tags(chunk))
        if page.take():
            return page.title
    return page.title if page.take(is_end=True) else ""


def read_pages(pages: Iterable[Iterable[str]]) -> Iterator[dict[str, Any]]:
    """The rows of the pages of a chat, which are read in pieces."""
    author = ""
    for chunks in pages:
        page = TelegramPage(author)
        yield from page.read(chunks)
        author = page.author


def page_number(name: str) -> int:
    """The position of a page such as messages2.html; 0 for another file."""
    match = PAGE.fullmatch(name)
    return int(match["number"] or 1) if match else 0
