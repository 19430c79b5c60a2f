"""Read the messages of a channel that DiscordChatExporter wrote as HTML."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from adapters.common.open_tags import VOID_TAGS, MessagePage
from adapters.discord.exports.identity import attachment_at
from adapters.discord.exports.times import time_of_snowflake

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

GROUP, AUTHOR, CONTENT, SKIPPED, EMBED = "group", "author", "content", "skipped", "embed"
# Roles of elements by a part of their class, the first that fits.
ROLES = (
    ("chatlog__reply", SKIPPED),
    ("chatlog__reference", SKIPPED),
    ("chatlog__edited-timestamp", SKIPPED),
    ("chatlog__reactions", SKIPPED),
    ("chatlog__author-tag", SKIPPED),
    ("chatlog__bot-tag", SKIPPED),
    ("chatlog__author", AUTHOR),
    ("chatlog__content", CONTENT),
    ("chatlog__embed", EMBED),
    ("chatlog__forwarded", EMBED),
    ("chatlog__poll", EMBED),
    ("chatlog__message-group", GROUP),
)
NOTICE = "chatlog__system-notification"  # such as that a channel has another name
LINE_TAGS = frozenset({"br", "div", "p", "li", "blockquote", "pre", "tr"})


class ChatPage(MessagePage):
    """Collects the messages of a page."""

    def __init__(self) -> None:
        super().__init__()
        self._stack: list[tuple[str, str]] = []
        self._open: Counter[str] = Counter()  # the tags and roles of the stack
        self._author: dict[str, Any] = {}
        self._message: dict[str, Any] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = {name: value or "" for name, value in attrs}
        role = _find_role(facts.get("class", ""))
        if facts.get("data-message-id", "").isdigit():
            self._begin(facts["data-message-id"])
        if role == AUTHOR and facts.get("data-user-id", "").isdigit() and not self._is_inside(SKIPPED):
            self._author = {"id": facts["data-user-id"], "name": facts.get("title", "")}
            if self._message is not None:
                self._message["author"] = self._author
        if NOTICE in facts.get("class", "") and self._message is not None:
            self._message["type"] = "notice"
        if tag in LINE_TAGS:
            self._write("\n")
        if tag == "img":
            self._write(facts.get("alt", "") if "emoji" in facts.get("class", "") else "")
        if "chatlog__attachment" in facts.get("class", "") or self._is_attachment(tag):
            self._attach(facts)
        if tag not in VOID_TAGS:
            self._stack.append((tag, role))
            self._open.update((f"<{tag}>", role))

    def handle_endtag(self, tag: str) -> None:
        while self._open[f"<{tag}>"]:
            closed, role = self._stack.pop()
            self._open.subtract((f"<{closed}>", role))
            if closed == tag:
                return

    def handle_data(self, data: str) -> None:
        self._write(data)

    def _is_inside(self, *roles: str) -> bool:
        """Whether an open element has one of these roles."""
        return any(self._open[role] > 0 for role in roles)

    def _is_attachment(self, tag: str) -> bool:
        return tag in {"a", "source"} and self._is_inside("attachment")

    def _attach(self, facts: Mapping[str, str]) -> None:
        url = facts.get("href") or facts.get("src") or ""
        if url and self._message is not None:
            self._message["attachments"].append(attachment_at(url))

    def _begin(self, id_: str) -> None:
        if self._message is not None and self._message["id"] == id_:
            return
        self.finish()
        self._message = {"id": id_, "words": [], "attachments": [], "author": self._author}

    def _write(self, text: str) -> None:
        if self._message is not None and self._is_inside(CONTENT, EMBED) and not self._is_inside(SKIPPED):
            self._message["words"].append(text)

    def finish(self) -> None:
        message, self._message = self._message, None
        if message is None:
            return
        lines = (" ".join(line.split()) for line in "".join(message.pop("words")).split("\n"))
        message["content"] = "\n".join(filter(None, lines))
        try:
            self.done.append(message | {"timestamp": time_of_snowflake(message["id"]).isoformat()})
        except (ValueError, OverflowError):
            self.done.append({})


def _find_role(classes: str) -> str:
    if "chatlog__attachment" in classes:
        return "attachment"
    return next((role for sign, role in ROLES if sign in classes), "")


def read_payloads(
    open_chunks: Callable[[], Iterable[str]],
    slashed: tuple[str, ...],  # noqa: ARG001 - messages have ids
) -> Iterator[Mapping[str, Any]]:
    """The messages of a page that is read in pieces."""
    return ChatPage().read(open_chunks())


def read_times(chunks: Iterable[str]) -> Iterable[str]:  # noqa: ARG001 - ids say the times
    """No times."""
    return ()
