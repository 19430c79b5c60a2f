"""What the bot shows, as Slack's blocks, from rich to bare: a server that refuses one form is shown the next. Pure."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from adapters.slack.replies.mrkdwn import defuse_mentions, escape, split_rendered, to_mrkdwn
from bot.platform.models import title_with_time
from bot.text.format import format_utc
from bot.text.markdown import is_web_link
from bot.text.splitting import split_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from bot.platform.models import AnswerFooter, Button, Card, FooterSource

    Block = dict[str, Any]

ID_PREFIX = "threadlore"
MAX_SECTION_LENGTH = 3000  # characters of a section
ESCAPE_RESERVE = 200  # of them for what becomes longer in Slack's own markup
MIN_PIECE_LENGTH = 400  # characters that surely fit, whatever is escaped in them
MAX_EXCERPT_LENGTH = 150  # characters of a source's own words
MAX_SOURCES = 20
MAX_ROW_BUTTONS = 25  # elements of an actions block
DATE_FORMAT = "{date_short_pretty} {time}"
MAX_BLOCKS_LENGTH = 12_500  # characters over all blocks of a message; Slack refuses somewhere beyond 13,000


class BlockFormat(IntEnum):
    """How much of Slack's blocks a message uses: citations and feedback; sections and buttons; nothing but text."""

    RICH = 0
    SIMPLE = 1
    BARE = 2


# Texts.


def build_body(markdown: str, form: BlockFormat) -> list[Block]:
    """A text; `markdown` calls nobody any more (rendering.safe)."""
    if not markdown.strip() or form is BlockFormat.BARE:
        return []
    if form is BlockFormat.RICH:
        return [{"type": "markdown", "text": markdown}]
    return build_sections(markdown)


def build_sections(markdown: str) -> list[Block]:
    """A text in Slack's own markup."""
    return [
        _section(text) for text in _split_into_sections(markdown, MAX_SECTION_LENGTH - ESCAPE_RESERVE) if text.strip()
    ]


def _split_into_sections(markdown: str, limit: int) -> Iterator[str]:
    """A text in Slack's own markup, in pieces that fit a section; they are shorter where much is escaped."""
    for part in split_message(markdown, limit):
        text = to_mrkdwn(part)
        if len(text) > MAX_SECTION_LENGTH and limit >= MIN_PIECE_LENGTH:
            yield from _split_into_sections(part, limit // 2)
        else:
            yield from split_rendered(text, MAX_SECTION_LENGTH)


def _section(text: str) -> Block:
    return {"type": "section", "text": _mrkdwn_text(text)}


def _mrkdwn_text(text: str) -> Block:
    """Slack's own markup, in which Slack makes no links of its own."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def blocks_length(blocks: Iterable[Block]) -> int:
    """The characters of all texts, addresses and values of blocks."""
    return sum(map(_text_length, blocks))


def _text_length(node: object) -> int:
    if isinstance(node, dict):
        return sum(
            len(v) if k in ("text", "url", "value", "fallback") and isinstance(v, str) else _text_length(v)
            for k, v in node.items()
        )
    return sum(map(_text_length, node)) if isinstance(node, list) else 0


# What stands below an answer.


def build_footer(
    footer: AnswerFooter, asker: str, form: BlockFormat, max_length: int = MAX_BLOCKS_LENGTH
) -> list[Block]:
    """Sources, a note and buttons, in no more than `room` characters if that can be had by leaving words out."""
    full = _build_footer(footer, asker, form, excerpt_length=MAX_EXCERPT_LENGTH)
    return full if blocks_length(full) <= max_length else _build_footer(footer, asker, form, excerpt_length=0)


def _build_footer(footer: AnswerFooter, asker: str, form: BlockFormat, excerpt_length: int) -> list[Block]:
    if form is BlockFormat.BARE:
        return []
    sources_list = (
        _citations(footer.sources, excerpt_length)
        if form is BlockFormat.RICH
        else _source_sections(footer.sources, excerpt_length)
    )
    notice = [_context_block(footer.notice)] if footer.notice else []
    return [
        *sources_list,
        *notice,
        *build_buttons(footer.buttons, form, block=f"{ID_PREFIX}.answer.{footer.answer}", asker=asker),
    ]


def footer_text(footer: AnswerFooter) -> str:
    """Sources and note as text, where blocks are refused."""
    lines = [
        f"[{source.number}] {title_with_time(source.title, source.time)} {source.link}".rstrip()
        for source in footer.sources[:MAX_SOURCES]
    ]
    return "\n".join(filter(None, ("\n".join(lines), footer.notice)))


def _citations(sources: Sequence[FooterSource], excerpt_length: int) -> list[Block]:
    """A list of citation elements."""
    if not sources:
        return []
    heading = {"type": "rich_text_section", "elements": [{"type": "text", "text": "Sources", "style": {"bold": True}}]}
    lines = [
        {"type": "rich_text_section", "elements": _citation_elements(source, excerpt_length)}
        for source in sources[:MAX_SOURCES]
    ]
    sources_list = {"type": "rich_text_list", "style": "bullet", "indent": 0, "elements": lines}
    return [{"type": "rich_text", "elements": [heading, sources_list]}]


def _citation_elements(source: FooterSource, excerpt_length: int) -> list[Block]:
    """One source: what it is called, and what it says."""
    excerpt = source.excerpt[:excerpt_length].strip()
    date: list[Block] = [{"type": "text", "text": " · "}, _date(source.time)] if source.time else []
    after = [*date, *([{"type": "text", "text": f" — {excerpt}"}] if excerpt else [])]
    if not is_web_link(source.link):
        return [{"type": "text", "text": f"[{source.number}] {source.title}"}, *after]
    number = {"type": "text", "text": f"[{source.number}] "}
    kind = {"citation_type": "message" if "/archives/" in source.link else "web"}
    citation = {"type": "citation", "url": source.link, "text": source.title or source.link, "index": source.number}
    return [number, {**citation, "details": kind}, *after]


def _source_sections(sources: Sequence[FooterSource], excerpt_length: int) -> list[Block]:
    """The same as lines of Slack's own markup."""
    lines = []
    for source in sources[:MAX_SOURCES]:
        title = escape(f"[{source.number}] {source.title}".strip())
        citation = (
            f"<{escape(quote(source.link, safe=URL_SAFE_CHARACTERS))}|{title}>" if is_web_link(source.link) else title
        )
        citation += f" · {_date_token(source.time)}" if source.time else ""
        excerpt = escape(source.excerpt[:excerpt_length].strip())
        lines.append(f"{citation} — {excerpt}" if excerpt else citation)
    if not lines:
        return []
    return [_section(piece) for piece in split_rendered("\n".join(["*Sources*", *lines]), MAX_SECTION_LENGTH)]


def _date(time: datetime) -> Block:
    """An instant that Slack shows in the reader's time zone."""
    return {"type": "date", "timestamp": int(time.timestamp()), "format": DATE_FORMAT, "fallback": format_utc(time)}


def _date_token(time: datetime) -> str:
    """The same in Slack's own markup."""
    return f"<!date^{int(time.timestamp())}^{DATE_FORMAT}|{format_utc(time)}>"


URL_SAFE_CHARACTERS = "/:?#[]@!$&'()*+,;=%-._~"


def _context_block(text: str) -> Block:
    return {"type": "context", "elements": [_mrkdwn_text(to_mrkdwn(defuse_mentions(text))[:2000])]}


# Buttons: their names and values come back when they are pressed.


def build_buttons(buttons: Sequence[Button], form: BlockFormat, block: str, asker: str = "") -> list[Block]:
    """Feedback and trash in their own row, the rest below it. The trash is seen by the asker alone."""
    if form is BlockFormat.BARE or not buttons:
        return []
    citation = {button.action: button for button in buttons}
    rich = form is BlockFormat.RICH and {"up", "down"} <= citation.keys()
    special = ("up", "down", "delete") if rich else ()
    rest = [button for button in buttons if button.action not in special]
    rows = [rest[at : at + MAX_ROW_BUTTONS] for at in range(0, len(rest), MAX_ROW_BUTTONS)]
    return [
        *([_feedback(citation, block, asker)] if rich else []),
        *(_button_row(row, f"{block}.{number}") for number, row in enumerate(rows)),
    ]


def _button_row(row: Sequence[Button], block: str) -> Block:
    elements = [
        {
            "type": "button",
            "text": _label(button.label),
            "action_id": f"{ID_PREFIX}.{button.action}.{number}",
            "value": button.value[:2000],
        }
        for number, button in enumerate(row)
    ]
    return {"type": "actions", "block_id": block[:255], "elements": elements}


def _feedback(citation: Mapping[str, Button], block: str, asker: str) -> Block:
    elements: list[Block] = [
        {
            "type": "feedback_buttons",
            "action_id": f"{ID_PREFIX}.feedback",
            "positive_button": _feedback_button(citation["up"]),
            "negative_button": _feedback_button(citation["down"]),
        }
    ]
    if "delete" in citation:
        elements.append(_delete_button(citation["delete"], asker))
    return {"type": "context_actions", "block_id": block[:255], "elements": elements}


def _feedback_button(button: Button) -> Block:
    return {"text": _label(button.label), "value": f"{button.action} {button.value}"[:2000]}


def _delete_button(button: Button, asker: str) -> Block:
    icon = {"type": "icon_button", "icon": "trash", "text": _label(button.label), "value": button.value[:2000]}
    seen = {"visible_to_user_ids": [asker]} if asker else {}
    return {**icon, "action_id": f"{ID_PREFIX}.{button.action}.0", **seen}


def _label(text: str) -> Block:
    return {"type": "plain_text", "text": text[:75] or "…", "emoji": True}


def parse_action(action_id: str, value: str) -> tuple[str, str] | None:
    """The action and the value of a button that came back; None if it is not one of ours."""
    prefix, _, rest = action_id.partition(".")
    if prefix != ID_PREFIX or not rest:
        return None
    action = rest.partition(".")[0]
    if action == "feedback":
        rating, _, ref = value.partition(" ")
        return rating, ref
    return action, value


# Cards and the home tab.


def build_card(card: Card, form: BlockFormat) -> list[Block]:
    """A card."""
    return [
        *build_body(defuse_mentions(card.text), form),
        *build_buttons(card.buttons, form, block=f"{ID_PREFIX}.card"),
    ]


def build_home(card: Card) -> Mapping[str, Any]:
    """The home tab: it knows sections, but no Markdown."""
    row = build_buttons(card.buttons, BlockFormat.SIMPLE, block=f"{ID_PREFIX}.home")
    return {"type": "home", "blocks": [*build_sections(defuse_mentions(card.text))[:90], *row]}
