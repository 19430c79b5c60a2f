"""Convert Markdown to Discord's: links without previews, tables as code blocks, sources as lines. Pure."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

from bot.i18n import gettext
from bot.text.markdown import Citation, Link, Words, clean_line, is_web_link, render_parts, sanitize_inline
from bot.text.splitting import close_fence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.platform.models import AnswerFooter, FooterSource

MAX_MESSAGE_LENGTH = 2000  # characters of a message
MAX_PART_LENGTH = 1800  # characters of Markdown; rendered links and tables are a little longer
MAX_SOURCE_LINES = 10  # below an answer
MAX_THREAD_NAME = 100  # characters of a thread's name
_MAX_TITLE = 200
_MAX_SOURCES_LENGTH = 1200  # characters of all source lines
_MAX_NOTICE = 700

_CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
_URL = r"https?://(?:[^\s()<>\[\]]|\([^\s()<>]*\))+"
_LINKS = re.compile(
    rf"!?\[(?P<words>(?:[^\[\]]|\[[^\[\]]{{0,100}}\]){{0,400}})\]\(<?(?P<to>{_URL})>?(?:\s+\"[^\"]*\")?\)"
    rf"|<https?://[^>\s]+>|(?P<bare>{_URL})"
)
_CELL_LINK = re.compile(rf"\[(\d{{0,9}})([^\]]{{0,200}})\]\(<?{_URL}>?\)")
_TABLE_RULER = re.compile(r"\A\s*+\|?(?:\s*+:?-++:?\s*+\|)++(?:\s*+:?-++:?\s*+)?\s*+\Z")
_DEEP_HEADING = re.compile(r"^#{4,6}\s+(.*?)\s*#*$")
_MARKS = re.compile(r"([\\`*_~<>|])")
_NOISE = re.compile(r"<[@#][!&]?\d+>|[*_`~|>#]+|<a?:(\w+):\d+>")


def render_markdown(markdown: str) -> str:
    """Render a part of an answer within MAX_MESSAGE_LENGTH; tables stay Markdown if they would not fit."""
    for text in ("\n".join(_convert_lines(markdown, tables=True)), "\n".join(_convert_lines(markdown, tables=False))):
        rendered = "".join(
            part if index % 2 else _LINKS.sub(_suppress_preview, part) for index, part in enumerate(_CODE.split(text))
        )
        if len(rendered) <= MAX_MESSAGE_LENGTH:
            return rendered.strip() or "…"
    return markdown[:MAX_MESSAGE_LENGTH]


def render_partial(markdown: str) -> str:
    """Render the last part of an unfinished answer, with an ellipsis."""
    text = render_markdown(close_fence(markdown))
    more = "\n…" if text.endswith("```") else " …"
    return text + more if len(text) + len(more) <= MAX_MESSAGE_LENGTH and text != "…" else text


def render_sources(footer: AnswerFooter) -> str:
    """Render the sources and the notice below an answer; empty if there are none. No embed: embeds are suppressed."""
    lines = _limit_lines([_render_source(source) for source in footer.sources])
    notice = clean_line(footer.notice)[:_MAX_NOTICE]
    return "\n".join([*([f"**{gettext('Sources')}**"] if lines else []), *lines, *([f"-# {notice}"] if notice else [])])


def append_sources(texts: Sequence[str], footer: AnswerFooter) -> list[str]:
    """Append the sources to the last message of an answer, or as a message of their own if they do not fit."""
    footer_text = render_sources(footer)
    if not footer_text:
        return list(texts)
    joined = f"{texts[-1]}\n\n{footer_text}"
    return [*texts[:-1], joined] if len(joined) <= MAX_MESSAGE_LENGTH else [*texts, footer_text]


def build_thread_title(question: str) -> str:
    """Build the name of a question's thread; empty if the question has no words."""
    words = " ".join(_NOISE.sub(r"\1", question).split())
    if len(words) <= MAX_THREAD_NAME:
        return words
    shortened, _, _ = words[: MAX_THREAD_NAME - 1].rpartition(" ")
    return (shortened or words[: MAX_THREAD_NAME - 1]) + "…"


def _limit_lines(lines: Sequence[str]) -> Sequence[str]:
    """Keep as many lines as fit, and append the number of hidden ones."""
    for shown in range(min(len(lines), MAX_SOURCE_LINES), 0, -1):
        hidden = len(lines) - shown
        kept = [*lines[:shown], f"… +{hidden}"] if hidden else lines
        if len(kept) <= MAX_SOURCE_LINES and len("\n".join(kept)) <= _MAX_SOURCES_LENGTH:
            return kept
    return ()


def _render_source(source: FooterSource) -> str:
    title = clean_line(source.title)[:_MAX_TITLE]
    time = f" · <t:{int(source.time.timestamp())}:f>" if source.time else ""
    shown = Link(title or source.link, source.link) if source.link else Words(title or "—")
    return render_parts([Citation(source.number), shown], DiscordMarkup()) + time


class DiscordMarkup:
    """Implements `Markup` for messages of Discord, whose links have no previews."""

    def render_words(self, words: str) -> str:
        line = clean_line(words).replace("[", "(").replace("]", ")")
        return _MARKS.sub(r"\\\1", sanitize_inline(line))

    def render_link(self, words: str, address: str) -> str:
        return (
            f"<{address}>" if words == address or is_web_link(words) else f"[{self.render_words(words)}](<{address}>)"
        )

    def render_citation(self, number: int) -> str:
        return f"**[{number}]**"


def _suppress_preview(found: re.Match[str]) -> str:
    """Wrap a link in angle brackets, which suppresses its preview."""
    if bare := found["bare"]:
        url = bare.rstrip(".,;:!?'\"*_~|")
        return f"<{url}>{bare[len(url) :]}"
    if (target := found["to"]) is None:
        return found[0]
    words = found["words"]
    return f"<{target}>" if not words or "://" in words else f"[{words}](<{target}>)"


def _convert_lines(markdown: str, *, tables: bool) -> Iterator[str]:
    """Convert lines: tables become code blocks, and headings that Discord does not support become bold."""
    lines, fenced, at = markdown.split("\n"), False, 0
    while at < len(lines):
        line = lines[at]
        fenced ^= line.lstrip().startswith("```")
        if tables and not fenced and "|" in line and at + 1 < len(lines) and _TABLE_RULER.fullmatch(lines[at + 1]):
            end = next((end for end in range(at + 2, len(lines)) if "|" not in lines[end]), len(lines))
            yield from _render_table([lines[at], *lines[at + 2 : end]])
            at = end
            continue
        yield line if fenced else _DEEP_HEADING.sub(r"**\1**", line)
        at += 1


def _render_table(table: Sequence[str]) -> Iterator[str]:
    cells = [[_render_cell(cell) for cell in row.strip().strip("|").split("|")] for row in table]
    widths = [max(map(len, column)) for column in zip_longest(*cells, fillvalue="")]
    yield "```"
    for number, row in enumerate(cells):
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
        if number == 0:
            yield "  ".join("─" * width for width in widths)
    yield "```"


def _render_cell(text: str) -> str:
    linked = _CELL_LINK.sub(lambda found: f"[{found[1]}]" if found[1] and not found[2] else found[1] + found[2], text)
    return linked.strip().replace("**", "").replace("`", "")
