"""What the bot shows, as Slack's blocks, from rich to bare: a server that refuses one form is shown the next. Pure."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from adapters.slack.replies.mrkdwn import escape, mrkdwn, safe, split
from bot.platform.models import dated, utc
from bot.text.splitting import parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from bot.platform.models import Button, Card, Cited, Closing

    Block = dict[str, Any]

OWN = "threadlore"
SECTION = 3000  # characters of a section
ESCAPES = 200  # of them for what becomes longer in Slack's own markup
SHORTEST = 400  # characters that surely fit, whatever is escaped in them
WORDS = 150  # characters of a source's own words
SOURCES = 20
ROW = 25  # elements of an actions block
WHEN = "{date_short_pretty} {time}"
WHOLE = 12_500  # characters over all blocks of a message; Slack refuses somewhere beyond 13,000


class Form(IntEnum):
    """How much of Slack's blocks a message uses: citations and feedback; sections and buttons; nothing but text."""

    RICH = 0
    SIMPLE = 1
    BARE = 2


# Texts.


def body(markdown: str, form: Form) -> list[Block]:
    """A text; `markdown` calls nobody any more (rendering.safe)."""
    if not markdown.strip() or form is Form.BARE:
        return []
    if form is Form.RICH:
        return [{"type": "markdown", "text": markdown}]
    return sections(markdown)


def sections(markdown: str) -> list[Block]:
    """A text in Slack's own markup."""
    return [_section(text) for text in _fitting(markdown, SECTION - ESCAPES) if text.strip()]


def _fitting(markdown: str, limit: int) -> Iterator[str]:
    """A text in Slack's own markup, in pieces that fit a section; they are shorter where much is escaped."""
    for part in parts(markdown, limit):
        text = mrkdwn(part)
        if len(text) > SECTION and limit >= SHORTEST:
            yield from _fitting(part, limit // 2)
        else:
            yield from split(text, SECTION)


def _section(text: str) -> Block:
    return {"type": "section", "text": _literal(text)}


def _literal(text: str) -> Block:
    """Slack's own markup, in which Slack makes no links of its own."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def weight(blocks: Iterable[Block]) -> int:
    """The characters of all texts, addresses and values of blocks."""
    return sum(map(_weight, blocks))


def _weight(thing: object) -> int:
    if isinstance(thing, dict):
        return sum(
            len(v) if k in ("text", "url", "value", "fallback") and isinstance(v, str) else _weight(v)
            for k, v in thing.items()
        )
    return sum(map(_weight, thing)) if isinstance(thing, list) else 0


# What stands below an answer.


def closing(end: Closing, asker: str, form: Form, room: int = WHOLE) -> list[Block]:
    """Sources, a note and buttons, in no more than `room` characters if that can be had by leaving words out."""
    full = _closing(end, asker, form, words=WORDS)
    return full if weight(full) <= room else _closing(end, asker, form, words=0)


def _closing(end: Closing, asker: str, form: Form, words: int) -> list[Block]:
    if form is Form.BARE:
        return []
    listed = _citations(end.sources, words) if form is Form.RICH else _listed(end.sources, words)
    note = [_context(end.note)] if end.note else []
    return [*listed, *note, *buttons(end.buttons, form, block=f"{OWN}.answer.{end.answer}", asker=asker)]


def below(end: Closing) -> str:
    """Sources and note as text, where blocks are refused."""
    lines = [
        f"[{source.number}] {dated(source.title, source.time)} {source.link}".rstrip()
        for source in end.sources[:SOURCES]
    ]
    return "\n".join(filter(None, ("\n".join(lines), end.note)))


def _citations(sources: Sequence[Cited], words: int) -> list[Block]:
    """A list of citation elements."""
    if not sources:
        return []
    heading = {"type": "rich_text_section", "elements": [{"type": "text", "text": "Sources", "style": {"bold": True}}]}
    lines = [{"type": "rich_text_section", "elements": _cited(source, words)} for source in sources[:SOURCES]]
    listed = {"type": "rich_text_list", "style": "bullet", "indent": 0, "elements": lines}
    return [{"type": "rich_text", "elements": [heading, listed]}]


def _cited(source: Cited, words: int) -> list[Block]:
    """One source: what it is called, and what it says."""
    said = source.words[:words].strip()
    when: list[Block] = [{"type": "text", "text": " · "}, _date(source.time)] if source.time else []
    after = [*when, *([{"type": "text", "text": f" — {said}"}] if said else [])]
    if not leads(source.link):
        return [{"type": "text", "text": f"[{source.number}] {source.title}"}, *after]
    number = {"type": "text", "text": f"[{source.number}] "}
    kind = {"citation_type": "message" if "/archives/" in source.link else "web"}
    named = {"type": "citation", "url": source.link, "text": source.title or source.link, "index": source.number}
    return [number, {**named, "details": kind}, *after]


def _listed(sources: Sequence[Cited], words: int) -> list[Block]:
    """The same as lines of Slack's own markup."""
    lines = []
    for source in sources[:SOURCES]:
        title = escape(f"[{source.number}] {source.title}".strip())
        named = f"<{escape(quote(source.link, safe=SAFE))}|{title}>" if leads(source.link) else title
        named += f" · {_date_token(source.time)}" if source.time else ""
        said = escape(source.words[:words].strip())
        lines.append(f"{named} — {said}" if said else named)
    return [_section(piece) for piece in split("\n".join(["*Sources*", *lines]), SECTION)] if lines else []


def _date(time: datetime) -> Block:
    """An instant that Slack shows in the reader's time zone."""
    return {"type": "date", "timestamp": int(time.timestamp()), "format": WHEN, "fallback": utc(time)}


def _date_token(time: datetime) -> str:
    """The same in Slack's own markup."""
    return f"<!date^{int(time.timestamp())}^{WHEN}|{utc(time)}>"


SAFE = "/:?#[]@!$&'()*+,;=%-._~"


def leads(link: str) -> bool:
    """Whether Slack takes it as the address of a link."""
    return link.startswith(("https://", "http://"))


def _context(text: str) -> Block:
    return {"type": "context", "elements": [_literal(mrkdwn(safe(text))[:2000])]}


# Buttons: their names and values come back when they are pressed.


def buttons(given: Sequence[Button], form: Form, block: str, asker: str = "") -> list[Block]:
    """Feedback and trash in their own row, the rest below it. The trash is seen by the asker alone."""
    if form is Form.BARE or not given:
        return []
    named = {button.action: button for button in given}
    rich = form is Form.RICH and {"up", "down"} <= named.keys()
    special = ("up", "down", "delete") if rich else ()
    rest = [button for button in given if button.action not in special]
    rows = [rest[at : at + ROW] for at in range(0, len(rest), ROW)]
    return [
        *([_feedback(named, block, asker)] if rich else []),
        *(_row(row, f"{block}.{number}") for number, row in enumerate(rows)),
    ]


def _row(row: Sequence[Button], block: str) -> Block:
    elements = [
        {
            "type": "button",
            "text": _label(button.label),
            "action_id": f"{OWN}.{button.action}.{number}",
            "value": button.value[:2000],
        }
        for number, button in enumerate(row)
    ]
    return {"type": "actions", "block_id": block[:255], "elements": elements}


def _feedback(named: Mapping[str, Button], block: str, asker: str) -> Block:
    elements: list[Block] = [
        {
            "type": "feedback_buttons",
            "action_id": f"{OWN}.feedback",
            "positive_button": _thumb(named["up"]),
            "negative_button": _thumb(named["down"]),
        }
    ]
    if "delete" in named:
        elements.append(_trash(named["delete"], asker))
    return {"type": "context_actions", "block_id": block[:255], "elements": elements}


def _thumb(button: Button) -> Block:
    return {"text": _label(button.label), "value": f"{button.action} {button.value}"[:2000]}


def _trash(button: Button, asker: str) -> Block:
    icon = {"type": "icon_button", "icon": "trash", "text": _label(button.label), "value": button.value[:2000]}
    seen = {"visible_to_user_ids": [asker]} if asker else {}
    return {**icon, "action_id": f"{OWN}.{button.action}.0", **seen}


def _label(text: str) -> Block:
    return {"type": "plain_text", "text": text[:75] or "…", "emoji": True}


def pressed(action_id: str, value: str) -> tuple[str, str] | None:
    """The action and the value of a button that came back; None if it is not one of ours."""
    own, _, rest = action_id.partition(".")
    if own != OWN or not rest:
        return None
    action = rest.partition(".")[0]
    if action == "feedback":
        thumb, _, of = value.partition(" ")
        return thumb, of
    return action, value


# Cards and the home tab.


def card(shown: Card, form: Form) -> list[Block]:
    """A card."""
    return [*body(safe(shown.text), form), *buttons(shown.buttons, form, block=f"{OWN}.card")]


def home(shown: Card) -> Mapping[str, Any]:
    """The home tab: it knows sections, but no Markdown."""
    row = buttons(shown.buttons, Form.SIMPLE, block=f"{OWN}.home")
    return {"type": "home", "blocks": [*sections(safe(shown.text))[:90], *row]}
