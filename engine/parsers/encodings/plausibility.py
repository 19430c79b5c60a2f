"""Judge whether decoded characters stand where people write them: a wrong encoding puts signs within words. Pure."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache

_APOSTROPHES = frozenset("’‘ʼ‐‑–—·-")
_USUAL_SIGNS = frozenset("’‘ʼ“”„‚«»‹›–—…§°€£©®™№¿¡•·×½¼¾±²³µ¥¢†‐‑、。「」『』（），！？：；《》【】・ー～〜％")
_LIGATURES = frozenset("ﬁﬂ")
_MAX_LETTERS = 4000  # characters beyond ASCII that are looked at
_MAIN_SHARE = 0.7  # of the letters, which are of the main script
# Letters that no language has together: code pages of Western and of Central Europe share the former.
_NEVER_TOGETHER = ((frozenset("šžŠŽťŤ"), frozenset("èêìòùïÈÊÌÒÙÏ")),)
_MIXED = 0.9
# Letters of Serbian and Macedonian, which other code pages have where a Cyrillic one has its capital letters.
_RARE_CYRILLIC = frozenset("ЂЃЉЊЌЋЏЅ")
_MARK_OF_RARE = 0.8


def judge_plausibility(text: str) -> float:
    """The mean mark of the characters beyond ASCII: 1 for usual ones, near 0 for those of a wrong encoding."""
    total, count = 0.0, 0
    for at, character in enumerate(text):
        if character < "\x80":
            continue
        before, after = text[at - 1] if at else " ", text[at + 1] if at + 1 < len(text) else " "
        total += _mark(character, before, after)
        count += 1
        if count >= _MAX_LETTERS:
            break
    return total / count * _judge_mixture(text) if count else 1.0


def is_of_one_script(text: str) -> bool:
    """Whether a text has spaces or lines, nothing unprintable, and letters of hardly more than one script."""
    if not any(character in " \n" for character in text):
        return False
    if any(unicodedata.category(character)[0] == "C" for character in text if character not in "\t\r\n\ufeff"):
        return False
    scripts = Counter(_script(character) for character in text[:_MAX_LETTERS] if character.isalpha())
    return bool(scripts) and max(scripts.values()) > _MAIN_SHARE * scripts.total()


def _judge_mixture(text: str) -> float:
    """Less than 1 for letters that no language has together, such as those of French and Czech."""
    letters = frozenset(text[:_MAX_LETTERS])
    return _MIXED if any(letters & some and letters & others for some, others in _NEVER_TOGETHER) else 1.0


def _mark(character: str, before: str, after: str) -> float:
    kind = unicodedata.category(character)[0]
    if kind in "LM" and character not in _LIGATURES:
        return _mark_letter(character, before, after)
    if kind == "C" or character == "\ufffd":
        return 0.0
    if character in _LIGATURES or (before.isalpha() and after.isalpha()):
        return 0.9 if character in _APOSTROPHES else 0.1
    is_frame = all("─" <= frame <= "▟" for frame in (character, before if before > "\x7f" else after))
    return 0.9 if is_frame or character in _USUAL_SIGNS or character == "\xa0" else 0.4


def _mark_letter(character: str, before: str, after: str) -> float:
    script = _script(character)
    if script == "HALFWIDTH" or unicodedata.category(character) == "Lm":
        return 0.3
    near = [_script(neighbor) for neighbor in (before, after) if neighbor.isalpha()]
    if any(other != script for other in near):
        return 0.3 if script == "IDEOGRAPH" else 0.0
    if before.islower() and character.isupper():
        return 0.2
    if character in _RARE_CYRILLIC:
        return _MARK_OF_RARE
    is_alone = not near and script != "IDEOGRAPH"
    return 0.5 if is_alone and (character.isupper() or script != "LATIN") else 1.0


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    """The script of a letter; those that East Asian texts mix count as one."""
    name = unicodedata.name(character, "UNKNOWN").split()[0]
    return "IDEOGRAPH" if name in {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "KATAKANA-HIRAGANA"} else name
