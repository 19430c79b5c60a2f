"""Prepare names for a picture: shorten them, wrap them, and find fonts that have their characters."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from bot.text.terminal import display_width, strip_control_chars

MAX_NAME_WIDTH = 34  # columns
MAX_LINE_COLUMNS = 19  # columns
DEFAULT_FONT = "DejaVu Sans"  # part of matplotlib, so always installed
_INVISIBLE = re.compile("[\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufe00-\ufe0f\ufeff]")


def truncate_name(name: str) -> str:
    """Truncate a name to a number of columns; a wide character has two."""
    line = " ".join(strip_control_chars(name).split())
    if display_width(line) <= MAX_NAME_WIDTH:
        return line
    while display_width(line) > MAX_NAME_WIDTH - 1:
        line = line[:-1]
    return f"{line.rstrip(' ,;:-')}…"


def wrap_label(label: str) -> str:
    """Wrap a long label into two lines of similar width, at a blank."""
    places = [place for place, character in enumerate(label) if character == " "]
    if display_width(label) <= MAX_LINE_COLUMNS or not places:
        return label
    best = min(places, key=lambda place: max(display_width(label[:place]), display_width(label[place + 1 :])))
    return f"{label[:best]}\n{label[best + 1 :]}"


def drawable_text(name: str, substitute: str) -> str:
    """Drop characters that no font has; the substitute if less than half of the letters remain."""
    drawable = "".join(
        character for character in _INVISIBLE.sub("", name) if character.isspace() or find_font(character)
    )
    letters = [sum(unicodedata.category(character)[0] in "LN" for character in text) for text in (drawable, name)]
    return " ".join(drawable.split()) if letters[0] and 2 * letters[0] >= letters[1] else substitute


def font_families(text: str) -> list[str]:
    """The fonts that a text needs, the default one first."""
    return list(dict.fromkeys([DEFAULT_FONT, *(find_font(character) for character in text if not character.isspace())]))


@lru_cache(maxsize=4096)
def find_font(character: str) -> str:
    """The first installed font with a character: the default one, then by name; empty if none has it."""
    return next((family for family, path in _list_fonts() if ord(character) in _font_characters(path)), "")


@lru_cache(maxsize=1)
def _list_fonts() -> tuple[tuple[str, str], ...]:
    """Upright fonts of regular weight as (family, path), without fallback fonts."""
    from matplotlib.font_manager import fontManager  # noqa: PLC0415  - slow to load, and few need it

    plain = {
        (font.name, font.fname)
        for font in fontManager.ttflist
        if font.style == "normal" and font.weight in {400, "normal"} and not font.name.startswith("Last Resort")
    }
    return tuple(sorted(plain, key=lambda font: (font[0] != DEFAULT_FONT, font)))


@lru_cache(maxsize=64)
def _font_characters(path: str) -> frozenset[int]:
    from matplotlib.font_manager import get_font  # noqa: PLC0415  - as above

    return frozenset(get_font(path).get_charmap())
