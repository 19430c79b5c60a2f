"""Build Slack blocks in three formats, from rich to bare; a refused format is followed by the next. Pure."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from adapters.slack.replies.mrkdwn import MrkdwnMarkup, defuse_mentions, split_rendered, to_mrkdwn
from adapters.slack.replies.tables import split_at_table
from adapters.slack.workspace.markup import escape
from bot.i18n import gettext
from bot.platform.models import SUGGESTION_ACTION, title_with_time
from bot.text.format import format_utc
from bot.text.markdown import Link, clean_line, escape_markdown, is_web_link, render_parts, web_address
from bot.text.splitting import split_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from bot.platform.models import AnswerFooter, Button, Card, FooterSource

    Block = dict[str, Any]

ID_PREFIX = "threadlore"
USER_ID = re.compile(r"[UW][A-Z0-9]+")
MAX_SECTION_LENGTH = 3000  # characters of a section
ESCAPE_RESERVE = 200  # of them, for text that grows when converted to mrkdwn
MIN_PIECE_LENGTH = 400  # characters that fit a section even if all are escaped
MAX_EXCERPT_LENGTH = 150  # characters of a source's excerpt
MAX_SOURCES = 20
MAX_ROW_BUTTONS = 25  # elements of an actions block
DATE_FORMAT = "{date_short_pretty} {time}"
MAX_BLOCKS_LENGTH = 12_500  # characters over all blocks; Slack refuses above about 13,000


class BlockFormat(IntEnum):
    """Block formats: RICH has citations and feedback buttons, SIMPLE sections and buttons, BARE only text."""

    RICH = 0
    SIMPLE = 1
    BARE = 2


# Texts.


def build_body(markdown: str, form: BlockFormat) -> list[Block]:
    """Build the blocks of a text; mentions in `markdown` are already defused (mrkdwn.defuse_mentions)."""
    if not markdown.strip() or form is BlockFormat.BARE:
        return []
    if form is BlockFormat.RICH:
        return [{"type": "markdown", "text": markdown}]
    return build_sections(markdown)


def build_body_with_table(markdown: str) -> list[Block]:
    """Build the blocks of a text in the RICH format, with its first table as one of Slack's."""
    before, table, after = split_at_table(markdown)
    parts = [*build_body(before, BlockFormat.RICH), *([table] if table else [])]
    return [*parts, *build_body(after, BlockFormat.RICH)]


def build_mentions(people: Sequence[str]) -> Block:
    """Build the section that notifies people."""
    return _section(format_mentions(people).strip())


def format_mentions(people: Sequence[str]) -> str:
    """The markup that notifies people, which only ids of users can become; followed by a blank."""
    return "".join(f"<@{person}> " for person in people if USER_ID.fullmatch(person))


def build_sections(markdown: str) -> list[Block]:
    """Build mrkdwn sections of a text."""
    return [
        _section(text) for text in _split_into_sections(markdown, MAX_SECTION_LENGTH - ESCAPE_RESERVE) if text.strip()
    ]


def _split_into_sections(markdown: str, limit: int) -> Iterator[str]:
    """Convert a text to mrkdwn pieces that fit a section; heavily escaped text gets smaller pieces."""
    for part in split_message(markdown, limit):
        text = to_mrkdwn(part)
        if len(text) > MAX_SECTION_LENGTH and limit >= MIN_PIECE_LENGTH:
            yield from _split_into_sections(part, limit // 2)
        else:
            yield from split_rendered(text, MAX_SECTION_LENGTH)


def _section(text: str) -> Block:
    return {"type": "section", "text": _mrkdwn_text(text)}


def _mrkdwn_text(text: str) -> Block:
    """A mrkdwn text object in which Slack adds no links."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def blocks_length(blocks: Iterable[Block]) -> int:
    """Count the characters of all texts, URLs and values of blocks."""
    return sum(map(_text_length, blocks))


def _text_length(node: object) -> int:
    if isinstance(node, dict):
        return sum(
            len(v) if k in ("text", "url", "value", "fallback") and isinstance(v, str) else _text_length(v)
            for k, v in node.items()
        )
    return sum(map(_text_length, node)) if isinstance(node, list) else 0


# Footer of an answer.


def build_footer(footer: AnswerFooter, form: BlockFormat, max_length: int = MAX_BLOCKS_LENGTH) -> list[Block]:
    """Build sources, notice and buttons; excerpts are left out if the blocks exceed `max_length` characters."""
    full = _build_footer(footer, form, excerpt_length=MAX_EXCERPT_LENGTH)
    return full if blocks_length(full) <= max_length else _build_footer(footer, form, excerpt_length=0)


def _build_footer(footer: AnswerFooter, form: BlockFormat, excerpt_length: int) -> list[Block]:
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
        *build_buttons(footer.buttons, form, block=f"{ID_PREFIX}.answer.{footer.answer}"),
    ]


def footer_text(footer: AnswerFooter) -> str:
    """Sources and notice as Markdown, for the BARE format."""
    lines = []
    for source in footer.sources[:MAX_SOURCES]:
        title = title_with_time(escape_markdown(source.title), source.time)
        lines.append(f"[{source.number}] {title} {web_address(source.link)}".rstrip())
    return "\n".join(filter(None, ("\n".join(lines), footer.notice)))


def _citations(sources: Sequence[FooterSource], excerpt_length: int) -> list[Block]:
    """Build a list of citation elements."""
    if not sources:
        return []
    heading = {
        "type": "rich_text_section",
        "elements": [{"type": "text", "text": gettext("Sources"), "style": {"bold": True}}],
    }
    lines = [
        {"type": "rich_text_section", "elements": _citation_elements(source, excerpt_length)}
        for source in sources[:MAX_SOURCES]
    ]
    sources_list = {"type": "rich_text_list", "style": "bullet", "indent": 0, "elements": lines}
    return [{"type": "rich_text", "elements": [heading, sources_list]}]


def _citation_elements(source: FooterSource, excerpt_length: int) -> list[Block]:
    """Build the elements of one source: number, title, time and excerpt."""
    excerpt, title = clean_line(source.excerpt[:excerpt_length]), clean_line(source.title)
    date: list[Block] = [{"type": "text", "text": " · "}, _date(source.time)] if source.time else []
    after = [*date, *([{"type": "text", "text": f" — {excerpt}"}] if excerpt else [])]
    if not is_web_link(source.link):
        return [{"type": "text", "text": f"[{source.number}] {title}"}, *after]
    number = {"type": "text", "text": f"[{source.number}] "}
    kind = {"citation_type": "message" if "/archives/" in source.link else "web"}
    citation = {"type": "citation", "url": source.link, "text": title or source.link, "index": source.number}
    return [number, {**citation, "details": kind}, *after]


def _source_sections(sources: Sequence[FooterSource], excerpt_length: int) -> list[Block]:
    """Build the sources as mrkdwn lines, for the SIMPLE format."""
    lines = []
    for source in sources[:MAX_SOURCES]:
        citation = render_parts([Link(f"[{source.number}] {source.title}".strip(), source.link)], MrkdwnMarkup())
        citation += f" · {_date_token(source.time)}" if source.time else ""
        excerpt = escape(clean_line(source.excerpt[:excerpt_length]))
        lines.append(f"{citation} — {excerpt}" if excerpt else citation)
    if not lines:
        return []
    return [
        _section(piece) for piece in split_rendered("\n".join([f"*{gettext('Sources')}*", *lines]), MAX_SECTION_LENGTH)
    ]


def _date(time: datetime) -> Block:
    """A date element, shown in the reader's time zone."""
    return {"type": "date", "timestamp": int(time.timestamp()), "format": DATE_FORMAT, "fallback": format_utc(time)}


def _date_token(time: datetime) -> str:
    """A date token of mrkdwn, shown in the reader's time zone."""
    return f"<!date^{int(time.timestamp())}^{DATE_FORMAT}|{format_utc(time)}>"


def _context_block(text: str) -> Block:
    return {"type": "context", "elements": [_mrkdwn_text(to_mrkdwn(defuse_mentions(text))[:2000])]}


# Buttons: action and value come back when one is pressed.


def build_buttons(buttons: Sequence[Button], form: BlockFormat, block: str) -> list[Block]:
    """Build the feedback buttons, the rest below, suggested questions last."""
    if form is BlockFormat.BARE or not buttons:
        return []
    citation = {button.action: button for button in buttons}
    rich = form is BlockFormat.RICH and {"up", "down"} <= citation.keys()
    special = ("up", "down") if rich else ()
    rest = [button for button in buttons if button.action not in special]
    suggested = [button for button in rest if button.action == SUGGESTION_ACTION]
    others = [button for button in rest if button.action != SUGGESTION_ACTION]
    rows = [others[at : at + MAX_ROW_BUTTONS] for at in range(0, len(others), MAX_ROW_BUTTONS)]
    rows += [suggested] if suggested else []
    return [
        *([_feedback(citation, block)] if rich else []),
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


def _feedback(citation: Mapping[str, Button], block: str) -> Block:
    element = {
        "type": "feedback_buttons",
        "action_id": f"{ID_PREFIX}.feedback",
        "positive_button": _feedback_button(citation["up"]),
        "negative_button": _feedback_button(citation["down"]),
    }
    return {"type": "context_actions", "block_id": block[:255], "elements": [element]}


def _feedback_button(button: Button) -> Block:
    return {"text": _label(button.label), "value": f"{button.action} {button.value}"[:2000]}


def _label(text: str) -> Block:
    return {"type": "plain_text", "text": text[:75] or "…", "emoji": True}


def parse_action(action_id: str, value: str) -> tuple[str, str] | None:
    """Parse action and value of a pressed button; None if it is not the bot's."""
    prefix, _, rest = action_id.partition(".")
    if prefix != ID_PREFIX or not rest:
        return None
    action = rest.partition(".")[0]
    if action == "feedback":
        rating, _, ref = value.partition(" ")
        return rating, ref
    return action, value


# Cards and the Home tab.


def build_home(card: Card) -> Mapping[str, Any]:
    """Build the Home tab, which supports sections but no Markdown blocks."""
    row = build_buttons(card.buttons, BlockFormat.SIMPLE, block=f"{ID_PREFIX}.home")
    return {"type": "home", "blocks": [*build_sections(defuse_mentions(card.text))[:90], *row]}
