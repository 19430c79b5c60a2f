"""What a reader sees of Markdown: decoded, without marks and invisible characters, with plain digits. Pure.

It errs toward more digits: what any platform may show as a number reads as one here.
"""

from __future__ import annotations

import html
import re
import unicodedata

from engine.answers.links.addresses import decode_and_normalize, decode_escapes

# Pairs that look like square brackets. Compatibility forms become one of them.
OPENING_BRACKETS = "[【［〔〖⟦⁅❲〚﹝"
CLOSING_BRACKETS = "]】］〕〗⟧⁆❳〛﹞"
PLAIN_BRACKETS = dict.fromkeys(map(ord, OPENING_BRACKETS), "(") | dict.fromkeys(map(ord, CLOSING_BRACKETS), ")")
_AMPERSAND = r"&(?:amp;|#0{0,8}38;|#x0{0,8}26;){0,8}"
_OPENING_NAMES, _CLOSING_NAMES = "lsqb|lbrack|lobrk|lbbrk", "rsqb|rbrack|robrk|rbbrk"
PARTIAL_ENTITY = re.compile(r"&[#0-9A-Za-z;]{0,80}\Z")


def _bracket_forms(brackets: str, names: str) -> str:
    """A pattern of brackets as they are, and as entities."""
    decimal = "|".join(str(ord(bracket)) for bracket in brackets)
    hexadecimal = "|".join(f"{ord(bracket):x}" for bracket in brackets)
    entity = rf"{_AMPERSAND}(?:#0{{0,8}}(?:{decimal})|#x0{{0,8}}(?:{hexadecimal})|{names})(?:;|(?![0-9A-Za-z;]))"
    return rf"[{re.escape(brackets)}]|{entity}"


OPENING_BRACKET = re.compile(_bracket_forms(OPENING_BRACKETS, _OPENING_NAMES), re.IGNORECASE)
BRACKET = re.compile(
    rf"(?P<opening>{OPENING_BRACKET.pattern})|(?P<closing>{_bracket_forms(CLOSING_BRACKETS, _CLOSING_NAMES)})",
    re.IGNORECASE,
)

_MARKS = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<!--|-->|\|\||[*_~`\\]|(?<=\n)[ \t]*(?:>[ \t]*)+")
_EMOJI_NAMES = "zero one two three four five six seven eight nine keycap_ten"
_EMOJI_DIGITS = {name: digit for digit, name in enumerate(_EMOJI_NAMES.split())}
_EMOJI_DIGIT = re.compile(rf":({'|'.join(_EMOJI_DIGITS)}):")
# Letters that look like a one or a zero, also of other scripts.
_DIGIT_LIKE = frozenset("lIO\u0399\u039f\u0406\u041e\u04c0\u04cf\u01c0")


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
