"""Names as a picture can show them: short, on one line or two, in letters that some font of this machine has."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from bot.text.terminal import display_width, strip_control_chars

MAX_NAME_WIDTH = 34  # columns of a name
MAX_LINE_COLUMNS = 19  # columns of a line
DEFAULT_FONT = "DejaVu Sans"  # comes with the drawing library, so that it is always there
_INVISIBLE = re.compile("[\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufe00-\ufe0f\ufeff]")


def truncate_name(name: str, longest: int = MAX_NAME_WIDTH) -> str:
    """The beginning of a name that has so many columns at most; wide letters fill two."""
    line = " ".join(strip_control_chars(name).split())
    if display_width(line) <= longest:
        return line
    while display_width(line) > longest - 1:
        line = line[:-1]
    return f"{line.rstrip(' ,;:-')}…"


def wrap_label(label: str, line: int = MAX_LINE_COLUMNS) -> str:
    """A label on two lines if it is long and has a blank somewhere: as even as they can be."""
    places = [place for place, letter in enumerate(label) if letter == " "]
    if display_width(label) <= line or not places:
        return label
    best = min(places, key=lambda place: max(display_width(label[:place]), display_width(label[place + 1 :])))
    return f"{label[:best]}\n{label[best + 1 :]}"


def drawable_text(name: str, substitute: str) -> str:
    """The name in letters that can be drawn: without those that cannot, or the substitute if hardly any is left."""
    kept = "".join(letter for letter in _INVISIBLE.sub("", name) if letter.isspace() or find_font(letter))
    letters = [sum(unicodedata.category(letter)[0] in "LN" for letter in text) for text in (kept, name)]
    return " ".join(kept.split()) if letters[0] and 2 * letters[0] >= letters[1] else substitute


def font_families(text: str) -> list[str]:
    """The fonts that the text needs, the usual one first."""
    return list(dict.fromkeys([DEFAULT_FONT, *(find_font(letter) for letter in text if not letter.isspace())]))


@lru_cache(maxsize=4096)
def find_font(letter: str) -> str:
    """The first font of this machine that can draw a letter: the usual one, then by name; "" if none can."""
    return next((family for family, path in _list_fonts() if ord(letter) in _font_characters(path)), "")


@lru_cache(maxsize=1)
def _list_fonts() -> tuple[tuple[str, str], ...]:
    """Upright fonts of plain weight as (family, path). What stands in for missing letters is none."""
    from matplotlib.font_manager import fontManager  # noqa: PLC0415  - slow to load, and few need it

    plain = {
        (each.name, each.fname)
        for each in fontManager.ttflist
        if each.style == "normal" and each.weight in {400, "normal"} and not each.name.startswith("Last Resort")
    }
    return tuple(sorted(plain, key=lambda font: (font[0] != DEFAULT_FONT, font)))


@lru_cache(maxsize=64)
def _font_characters(path: str) -> frozenset[int]:
    from matplotlib.font_manager import get_font  # noqa: PLC0415  - as above

    return frozenset(get_font(path).get_charmap())
