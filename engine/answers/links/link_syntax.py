"""Links as text: which may be shown, their patterns, addresses without markup, and what a reader sees. Pure.

Every pattern is bounded, so that the time grows only linearly with the text.

What a reader sees errs toward more digits: what any platform may show as a number reads as one here.
"""

from __future__ import annotations

import functools
import html
import re
import unicodedata
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from markdown_it.common.utils import unescapeAll

from engine.answers.links.addresses import (
    BROADCAST,
    CLOSING_PUNCTUATION,
    LINKABLE_ADDRESS,
    MAX_ADDRESS_CHARACTERS,
    MENTION_START,
    NON_ADDRESS_CHARACTERS,
    OPENING_PUNCTUATION,
    STRIPPED_SUFFIX,
    WORD_TOKEN,
    address_key,
    decode_and_normalize,
    decode_escapes,
    defang_word,
    find_addresses,
    find_scheme,
    is_linkable,
    name_candidates,
    normalize_text,
)
from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


SHORT_TEXT = 1_000  # characters of a text that is read once for all answers: a question has up to hundreds of them
MAX_READ_TEXTS = 4_096  # such texts
MAX_WORD_CHARACTERS = 64  # a word without address signs up to here is not an address
BLANKS = " \t\n"
EDGE_CHARACTERS = f'|>"`<[]{NON_ADDRESS_CHARACTERS}'
WORD_TEXT = compile_late(rf"[^{BLANKS}{re.escape(EDGE_CHARACTERS)}]+")
CODE_WORD = compile_late(r"\S+")
ADDRESS_SIGNS = compile_late(r"[.:@/\\&!]")
AFTER_NAME = ("", *BLANKS, *",;!?)")  # characters that complete no address in the name before them
LINK_BREAKERS = frozenset("[<`")  # must not follow a link directly

OPTIONAL_BLANKS = "[ \\t\\n]{0,4}"
REQUIRED_BLANKS = r"[ \t\n]{1,4}"
LINK_TITLE = rf"""{REQUIRED_BLANKS}(?:"[^"\n]{{0,400}}"|'[^'\n]{{0,400}}'|\([^()\n]{{0,400}}\))"""
PARTIAL_LINK_TITLE = rf"""{REQUIRED_BLANKS}(?:"[^"\n]{{0,400}}"?|'[^'\n]{{0,400}}'?|\([^()\n]{{0,400}}\)?)?"""
BARE_TARGET = r"[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*"
LINK_TARGET = compile_late(
    rf"\({OPTIONAL_BLANKS}(?:<(?P<angled>[^<>\n]*)>|(?P<bare>{BARE_TARGET}))(?:{LINK_TITLE})?{OPTIONAL_BLANKS}\)"
)
PARTIAL_LINK_TARGET = compile_late(
    rf"\({OPTIONAL_BLANKS}(?:<[^<>\n]*>?|[^\s<]*)(?:{PARTIAL_LINK_TITLE})?{OPTIONAL_BLANKS}\Z"
)
ANGLE_LINK = compile_late(r"<([^\s<>|`]+)(?:\|([^<>\n]*))?>")
PARTIAL_ANGLE_LINK = compile_late(r"<(?:[^\s<>|`]+(?:\|[^<>\n]*)?)?\Z")
# Tags without attributes pass, since code in a sentence looks like them, but for those with which HTML acts or hides.
HTML_TAG = compile_late(
    r"</?(?!(?:script|style|i?frame|frameset|object|embed|applet|svg|math|form|input|textarea|button|select|option|base"
    r"|link|meta|title|noscript|noembed|noframes|template|plaintext|xmp|listing|video|audio|canvas|marquee|img|image"
    r"|dialog|portal|body|html|head)>)[A-Za-z][A-Za-z0-9]*>",
    re.IGNORECASE,
)
ANGLED_CODE = compile_late(
    rf"{MENTION_START.pattern[0]}(?={MENTION_START.pattern[1:]}|[^\s<>|]*[@^]|[A-Za-z][A-Za-z0-9+.-]{{0,31}}:[^:\s])",
    re.IGNORECASE,
)
AFTER_LESS_THAN = frozenset(f"{BLANKS}=-<0123456789")  # characters after a `<` that starts no markup
MAX_LABEL_CHARACTERS = 300
LABEL_TEXT = r"(?:[^\[\]<>`|\n]|`[^`|\[\]\n]{1,300}`(?!`))"  # no brackets, and only whole spans of code
SELF_LABEL = rf"[A-Za-z][A-Za-z0-9+.-]*://[^\s\[\]<>()`|\"]{{1,{MAX_ADDRESS_CHARACTERS}}}"
LINK_LABEL = compile_late(rf"\[({LABEL_TEXT}{{0,{MAX_LABEL_CHARACTERS}}}|{SELF_LABEL})\](?=\()")
PARTIAL_LINK_LABEL = compile_late(
    rf"\[(?:{LABEL_TEXT}{{0,{MAX_LABEL_CHARACTERS}}}(?:`[^`|\[\]\n]{{0,300}}`?)?|[^\s\[\]<>()`|\"]{{0,{MAX_ADDRESS_CHARACTERS}}})\]?\Z"
)
CITATION_END = compile_late(r"\[\d{1,3}[\]\s]*\Z")
PLAIN_NAME = compile_late(r"(?!www\.)[\w.+-]+(?:@[\w.-]+)?", re.IGNORECASE)  # only letters can extend it
PLAIN_END = compile_late(r"[^?:]*(?:\?|:[*_~]*)?")  # after a plain name, every platform ends the link here
WRITTEN_PREFIX = compile_late(
    r"[^.:@/\\&!\x80-\U0010ffff]*"
)  # part of a word that may be written before the word is complete
LINK_EXTENDING_PREFIX = compile_late(
    r"[\w.+@~`\u200b-]\Z|_[*~(\[{\"'‘“«]*\Z|[^\s(\[{|>*~]\"[*~]*\Z|[^\s|]\|+[*_~(\[{\"'‘“«]*\Z"
)  # before a name: some platforms start the link earlier
# Pairs that look like square brackets. Compatibility forms become one of them.
OPENING_BRACKETS = "[【［〔〖⟦⁅❲〚﹝"
CLOSING_BRACKETS = "]】］〕〗⟧⁆❳〛﹞"
PLAIN_BRACKETS = dict.fromkeys(map(ord, OPENING_BRACKETS), "(") | dict.fromkeys(map(ord, CLOSING_BRACKETS), ")")
_AMPERSAND = r"&(?:amp;|#0{0,8}38;|#x0{0,8}26;){0,8}"
_OPENING_NAMES, _CLOSING_NAMES = "lsqb|lbrack|lobrk|lbbrk", "rsqb|rbrack|robrk|rbbrk"
PARTIAL_ENTITY = compile_late(r"&[#0-9A-Za-z;]{0,80}\Z")
_MARKS = compile_late(r"</?[A-Za-z][^<>]{0,200}>|<!--|-->|\|\||[*_~`\\]|(?<=\n)[ \t]*(?:>[ \t]*)+")
_EMOJI_NAMES = "zero one two three four five six seven eight nine keycap_ten"
_EMOJI_DIGITS = {name: digit for digit, name in enumerate(_EMOJI_NAMES.split())}
_EMOJI_DIGIT = compile_late(rf":({'|'.join(_EMOJI_DIGITS)}):")
# Letters that look like a one or a zero, also of other scripts.
_DIGIT_LIKE = frozenset("lIO\u0399\u039f\u0406\u041e\u04c0\u04cf\u01c0")


class FoundAddresses(NamedTuple):
    """The links and the names in one text, as written, by the key that compares them."""

    links: tuple[tuple[str, str], ...]
    names: tuple[tuple[str, str], ...]


class AllowedAddresses:
    """The addresses and names in some texts, which may be shown unchanged; of titles only the names."""

    def __init__(self, texts: Iterable[str], titles: Iterable[str] = ()) -> None:
        self._links: dict[str, str] = {}
        self._names: dict[str, str] = {}
        for text in texts:
            self._add(text)
        for title in titles:
            for key, name in _find_names(title):
                self._names.setdefault(key, name)
        self._schemes = frozenset(link.partition(":")[0] for link in self._links)
        self._sorted = sorted(self._names)
        self._capitals = sorted(key_ for key_, name in self._names.items() if not name.startswith(key_))

    def _add(self, text: str) -> None:
        """Add what a text holds; the first spelling of each stays."""
        found = _read_short(text) if len(text) <= SHORT_TEXT else _read(text)
        for key, link in found.links:
            self._links.setdefault(key, link)
        for key, name in found.names:
            self._names.setdefault(key, name)

    def find_link(self, address: str) -> str:
        """The address as written in a source; empty if no source contains all of it."""
        return self._links.get(address_key(address), "")

    def may_start_link(self, letters: str) -> bool:
        """Whether an allowed address starts with these letters."""
        return any(scheme.startswith(letters) for scheme in self._schemes)

    def find_name(self, name: str) -> str:
        """A name without a scheme, such as `notes.md`, as written in a source; empty if no source contains it."""
        return self._names.get(address_key(name), "")

    def may_respell(self, letters: str) -> bool:
        """Whether an allowed name starting with these letters may be spelled differently."""
        small = letters.lower()
        listed = self._capitals if small == letters else self._sorted
        at = bisect_left(listed, small)
        return bool(small) and at < len(listed) and listed[at].startswith(small)


def _read(text: str) -> FoundAddresses:
    """The links and names in a text, and in the text with its escapes resolved."""
    links: dict[str, str] = {}
    names: dict[str, str] = {}
    for read in dict.fromkeys((text, unescapeAll(text))):
        for address in dict.fromkeys(find_addresses(read)):
            if LINKABLE_ADDRESS.fullmatch(address) and not BROADCAST.search(address):
                links.setdefault(address_key(address), address)
            if "://www." in address:
                bare = address.partition("://")[2]
                names.setdefault(address_key(bare), bare)
        for key, name in _find_names(read):
            names.setdefault(key, name)
    return FoundAddresses(tuple(links.items()), tuple(names.items()))


@functools.lru_cache(maxsize=MAX_READ_TEXTS)
def _read_short(text: str) -> FoundAddresses:
    return _read(text)


def _find_names(text: str) -> Iterator[tuple[str, str]]:
    """The names without a scheme in a text, each with its key."""
    for found in WORD_TOKEN.finditer(text):
        if (
            ("." in found[0] or "@" in found[0])
            and "://" not in found[0]
            and len(found[0]) <= MAX_ADDRESS_CHARACTERS
            and not BROADCAST.search(found[0])
        ):
            for name in name_candidates(found[0]):
                yield address_key(name), name


def target_address(target: re.Match[str]) -> str:
    """The address of a link target, decoded as platforms decode it."""
    return decode_escapes(target["bare"] if target["angled"] is None else target["angled"])


class LinkContext:
    """Tracks open angle brackets and strikethrough, however the text is cut."""

    def __init__(self, *, angled: bool = False) -> None:
        self.angled = angled  # after a written `<`, with no space or `>` since
        self.in_strikethrough = False  # after `~~` in the same paragraph

    def is_within_angle(self, text: str) -> bool:
        """Whether chat markup would read the end of this text as the inside of a link opened by `<`."""
        _, angle, rest = text.rpartition("<")
        return (self.angled or bool(angle)) and " " not in rest and ">" not in rest

    def can_have_text(self, link: str) -> bool:
        """Whether a link can be written as `[text](link)` here."""
        return not self.angled and not set("()[]") & set(link)

    def record_output(self, before: str, text: str) -> None:
        """Record written text; a paragraph break ends all marks."""
        if "\n\n" in before[-1:] + text:
            self.in_strikethrough = False
        self.in_strikethrough = self.in_strikethrough or "~~" in before[-1:] + text
        self.angled = self.is_within_angle(text)

    def render_angle_link(self, link: str, before: str, tail: str) -> str:
        """A link in angle brackets; `before` is the text before it in this step, `tail` the text before that."""
        escaped = (before or tail).endswith("\\")
        return f" <{link}>" if escaped or self.is_within_angle(before) else f"<{link}>"


def needs_space(first: str, text: str, tail: str, *, linked: bool, bare: bool) -> bool:
    """Whether a space is needed so that the text does not extend a link, or turn a bracket into one."""
    if tail.endswith("]") and text[:1] in ("(", ":"):
        return True
    if not linked or first in BLANKS:
        return False
    if bare:
        return not STRIPPED_SUFFIX.fullmatch(text) or (
            first in EDGE_CHARACTERS and tail[-1:] in tuple(CLOSING_PUNCTUATION)
        )
    return first in LINK_BREAKERS or bool(text.partition(" ")[0].strip(CLOSING_PUNCTUATION + EDGE_CHARACTERS))


class BareName(NamedTuple):
    """A name to show, and whether the text after it could extend the link."""

    text: str
    is_open: bool


def match_bare_name(word: str, read: str, tail: str, allowed: AllowedAddresses) -> BareName | None:
    """An allowed name with its punctuation, spelled as in its source; None if it is not allowed.

    `read` is the decoded word, `tail` the text before it. The start of the word may be written already, so that its
    spelling cannot change.
    """
    read = normalize_text(read)
    core = read.lstrip(OPENING_PUNCTUATION).rstrip(CLOSING_PUNCTUATION)
    name = allowed.find_name(core) if core else ""
    if not name or "://" in name:
        return None
    lead, _, trail = read.partition(core)
    fixed = WRITTEN_PREFIX.match(word)
    if LINK_EXTENDING_PREFIX.search(tail + lead) or not f"{lead}{name}{trail}".startswith(fixed[0] if fixed else ""):
        return None
    plain = bool(PLAIN_NAME.fullmatch(name))
    emphasis = lead if not lead.strip("*~") else ""
    ends = PLAIN_END.fullmatch(trail) if plain else STRIPPED_SUFFIX.fullmatch(trail.removeprefix(emphasis))
    return BareName(lead + name + (trail if ends else f" {trail}"), not plain or "?" in trail or ":" in trail)


def filter_code_word(word: str, allowed: AllowedAddresses, *, angled: bool) -> str:
    """Filter a word of code, where names without a scheme are not linked and brackets have no meaning.

    `angled`: a `<` precedes the code, so that chat markup reads the code as part of a link.
    """
    if word.isascii() and not ADDRESS_SIGNS.search(word):
        return word
    read = decode_and_normalize(word)
    if not is_linkable(read, domains=False) or (not angled and _is_allowed(word, allowed)):
        return word
    return defang_word(read, domains=False)


def _is_allowed(word: str, allowed: AllowedAddresses) -> bool:
    """Whether the only linkable part of a word is an allowed address, spelled as in its source."""
    start = find_scheme(word)
    if start < 0:
        start = len(word) - len(word.lstrip(OPENING_PUNCTUATION))
    core = word[start:].rstrip(CLOSING_PUNCTUATION)
    return (
        bool(core)
        and core in (allowed.find_link(core), allowed.find_name(core))
        and bool(STRIPPED_SUFFIX.fullmatch(word, start + len(core)))
        and not is_linkable(normalize_text(decode_escapes(word[:start])), domains=False)
    )


def _bracket_forms(brackets: str, names: str) -> str:
    """A pattern of brackets as they are, and as entities."""
    decimal = "|".join(str(ord(bracket)) for bracket in brackets)
    hexadecimal = "|".join(f"{ord(bracket):x}" for bracket in brackets)
    entity = rf"{_AMPERSAND}(?:#0{{0,8}}(?:{decimal})|#x0{{0,8}}(?:{hexadecimal})|{names})(?:;|(?![0-9A-Za-z;]))"
    return rf"[{re.escape(brackets)}]|{entity}"


OPENING_BRACKET = compile_late(_bracket_forms(OPENING_BRACKETS, _OPENING_NAMES), re.IGNORECASE)
BRACKET = compile_late(
    rf"(?P<opening>{OPENING_BRACKET.pattern})|(?P<closing>{_bracket_forms(CLOSING_BRACKETS, _CLOSING_NAMES)})",
    re.IGNORECASE,
)


def visible_text(markdown: str) -> str:
    """What a reader sees of some Markdown within a line, in NFKC form, with the digits of all scripts as 0 to 9."""
    if markdown.isascii() and markdown.isalnum():
        return markdown
    text = _plain_digits(html.unescape(decode_escapes(markdown)))
    text = _EMOJI_DIGIT.sub(lambda found: str(_EMOJI_DIGITS[found[1]]), decode_and_normalize(text))
    return _plain_digits(_MARKS.sub("", text))


def has_words(markdown: str) -> bool:
    """Whether a label reads as words: it has a letter that looks like no digit, and no square brackets."""
    text = visible_text(markdown)
    brackets = not set(text).isdisjoint(OPENING_BRACKETS + CLOSING_BRACKETS)
    return not brackets and any(map(_is_letter, text))


def _is_letter(character: str) -> bool:
    return character.isalpha() and character not in _DIGIT_LIKE and unicodedata.numeric(character, None) is None


def _plain_digits(text: str) -> str:
    """The text with digits, circled numbers and the like as 0 to 9, without combining and invisible characters."""
    return text if text.isascii() else "".join(map(_plain_digit, text))


def _plain_digit(character: str) -> str:
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or character == "\u2800":
        return ""
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    if unicodedata.category(character) in ("No", "Nl"):
        number = unicodedata.numeric(character, 0.5)
        return str(int(number)) if number.is_integer() else character
    return character
