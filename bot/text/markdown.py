"""Show what others wrote as text, without markup or links of its own, with titles and excerpts of sources. Pure.

A name, a title or a heading reaches a consumer as a typed part, which its `Markup` turns into text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from bot.text.format import strip_control_chars
from engine.answers.links.stream import LinkFilter
from engine.text.word_lists import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


SAFE_CHARACTERS = "/:?#@!$&'*+,;=%-._~"  # of a URL: no markup language gives them a meaning

_BLANK = re.compile(r"\s")
_MARKUP = re.compile(r"([\\`*_~\[\]<>|]|&(?=#?\w{1,31};))")
EXCERPT_LENGTH = 160  # characters
MIN_WORD_LENGTH = 3  # letters of a content word; one less if it has a digit
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n+")
_WORD = re.compile(r"\w{3,}")
_ANY_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")  # scripts without spaces between words
_DATE = r"\d{4}-\d\d-\d\d"
_SPEAKER_PREFIX = re.compile(rf"^\[{_DATE} \d\d:\d\d\] [^:\n]+: ")  # of a message
_CONVERSATION_TIMES = re.compile(
    rf"(?:: Messages of {_DATE}[-–: \d]*|(?<=: Thread by )(.{{1,200}}), {_DATE})$"
)  # of a conversation


@dataclass(frozen=True, slots=True)
class Words:
    """What others wrote: a name, a title, a heading, an excerpt."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to an address, if it is one of the web."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Citation:
    """The number of a source."""

    number: int


Part = Words | Link | Citation


class Markup(Protocol):
    """The markup of a consumer."""

    def render_words(self, words: str) -> str:
        """Foreign words as one line of inert text."""

    def render_link(self, words: str, address: str) -> str:
        """Inert words as a link to a safe address of the web."""

    def render_citation(self, number: int) -> str:
        """The number of a source in a list of sources."""


def render_parts(parts: Iterable[Part], markup: Markup) -> str:
    """The parts that have text, separated by blanks."""
    return " ".join(filter(None, (_render_part(part, markup) for part in parts)))


def _render_part(part: Part, markup: Markup) -> str:
    match part:
        case Citation(number):
            return markup.render_citation(number)
        case Link(text, address) if safe := web_address(address):
            return markup.render_link(text, safe)
        case _:
            return markup.render_words(part.text)


def clean_line(text: str) -> str:
    """A text on one line, without characters that control what is shown or in which order."""
    return " ".join(strip_control_chars(text).split())


def sanitize_inline(text: str, *, domains: bool = False) -> str:
    """Put a text on one line and defuse its mentions and its links; with `domains`, also those without a scheme."""
    links = LinkFilter.from_texts((), "", domains=domains)
    return links.feed(clean_line(text)) + links.close()


def is_web_link(link: str) -> bool:
    """Whether a link is an address of the web (http or https)."""
    return link.startswith(("https://", "http://"))


def web_address(link: str) -> str:
    """A link whose characters have no meaning in any markup; empty if it is no address of the web."""
    safe = is_web_link(link) and not _BLANK.search(link)
    return quote(link, safe=SAFE_CHARACTERS) if safe else ""


def escape_markdown(text: str, length: int = EXCERPT_LENGTH, *, domains: bool = False) -> str:
    """Escape foreign text as one line, truncated at a word."""
    return _MARKUP.sub(r"\\\1", sanitize_inline(truncate_line(strip_control_chars(text), length), domains=domains))


def markdown_link(title: str, link: str) -> str:
    """A title as a link, if the URL is a web address."""
    return render_parts([Link(title, link)], CardMarkup())


class CardMarkup:
    """Implements `Markup` for cards, in Markdown; platforms link no names without a scheme there."""

    domains = False

    def render_words(self, words: str) -> str:
        return escape_markdown(words, domains=self.domains)

    def render_link(self, words: str, address: str) -> str:
        return f"[{self.render_words(words)}]({address})"

    def render_citation(self, number: int) -> str:
        return f"[{number}]"


class MarkdownMarkup(CardMarkup):
    """Implements `Markup` for programs of others, which may link anything and show HTML."""

    domains = True


def source_title(title: str, label: str) -> tuple[str, str]:
    """The title of a source with its location, without repeating a time or name."""
    location = label.removeprefix(title).lstrip(" ›")
    return (_CONVERSATION_TIMES.sub(r"\1", title) if re.search(_DATE, label) else title), location


def strip_speaker(text: str) -> str:
    """A message without its author and time, which its label shows."""
    return _SPEAKER_PREFIX.sub("", text)


def strip_heading(text: str, label: str) -> str:
    """A passage without the heading that it begins with, which its label shows."""
    first, _, rest = text.partition("\n")
    is_shown = bool(rest.strip()) and " ".join(first.split()) == " ".join(label.rpartition("›")[2].split())
    return rest.strip("\n") if is_shown else text


def build_excerpt(text: str, about: str = "", length: int = EXCERPT_LENGTH) -> str:
    """One line of a text, from the sentence that shares the most words with the answer."""
    sentences = [" ".join(part.split()) for part in _SENTENCE.split(text) if part.strip()]
    start = _best_start(sentences, about)
    return ("… " if start else "") + truncate_line(" ".join(sentences[start:]), length)


def lines_citing(answer: str, number: int) -> str:
    """The lines of an answer that cite a number."""
    return "\n".join(line for line in answer.split("\n") if f"[{number}]" in line)


def truncate_line(text: str, length: int = EXCERPT_LENGTH) -> str:
    """The beginning of a text as one line, truncated at a word."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[:length].rsplit(" ", 1)[0] + " …"


def shorten(text: str, limit: int) -> str:
    """A text of at most `limit` characters, which ends with an ellipsis if it was longer."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _best_start(sentences: Sequence[str], about: str) -> int:
    """The first of those that share most words."""
    words = _words(about)
    shares = [len(_words(sentence) & words) for sentence in sentences]
    return shares.index(max(shares)) if any(shares) else 0


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def content_words(text: str) -> set[str]:
    """The case-folded content words of a text; in scripts without spaces, pairs of letters."""
    found: set[str] = set()
    for word in _ANY_WORD.findall(text.casefold()):
        if _UNSPACED.search(word):
            found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif word not in STOP_WORDS and len(word) >= MIN_WORD_LENGTH - any(map(str.isdigit, word)):
            found.add(word)
    return found


def has_any_word(words: set[str], text: str) -> bool:
    """Whether a text has any of these words."""
    return bool(words) and not words.isdisjoint(content_words(text))
