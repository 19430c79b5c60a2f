"""Search terms of scripts that put no spaces between words: Chinese, Japanese, Thai, Lao, Khmer and Myanmar.

A term is one character with its marks, or two neighbors (bigrams, the usual way without a dictionary). Other text keeps
its words. The schema of PostgreSQL makes the same terms with the patterns of this module.

The index of SQLite removes a row by the terms that it was given, so that a change here needs a migration that indexes
all these rows again.
"""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import Literal

from engine.text.patterns import compile_late

KANA = r"\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HAN = r"\u3005-\u3007\u3105-\u312f\u31a0-\u31bf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
SOUTHEAST = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf"  # Thai, Lao
    r"\u1000-\u103f\u1050-\u108f\u109a-\u109d\u1780-\u17d3\u17d7\u17dc\u17dd"  # Myanmar, Khmer
)
CHARACTERS = KANA + HAN + SOUTHEAST
# Vowels that are written before their consonant; marks that follow a character; marks that join the next consonant.
PREFIXES = r"\u0e40-\u0e44\u0ec0-\u0ec4"
MARKS = (
    r"\u3099\u309a\u0e30-\u0e3a\u0e45\u0e47-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ece"
    r"\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d"
    r"\u17b4-\u17d3\u17dd"
)
JOINERS = r"\u1039\u17d2"
RUN = compile_late(f"[{CHARACTERS}]+")
CLUSTER = compile_late(f"[{PREFIXES}]?[{CHARACTERS}](?:[{JOINERS}][{CHARACTERS}]|[{MARKS}])*")
MARK = compile_late(f"[{MARKS}]")
_SYLLABLE = compile_late(f"[{KANA}]")
# Characters that mostly have a grammatical function, as stop words have: hiragana, and the commonest of Chinese.
_FUNCTION_WORDS = compile_late(
    r"[\u3041-\u309f的了吗嗎呢吧啊是在和与與或也都就这這那哪谁誰什么麼怎几幾个個有我你您他她它们們请請]+"
)
SLICE_CHARACTERS = 2_000
MAX_MARKS = 200  # characters that are searched for the end of a slice; texts have a few marks on a character
JAMO_VOWELS, JAMO_FINALS = "\u1160", "\u11ff"  # letters that join the one before them

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]


def has_unspaced(text: str) -> bool:
    """Whether a text has characters of such a script."""
    return not text.isascii() and RUN.search(text) is not None


def split_unspaced(text: str) -> tuple[str, list[str]]:
    """The rest of a text, with blanks for the runs of such scripts, and the terms of these runs as they are indexed."""
    if not has_unspaced(text):
        return text, []
    runs = RUN.findall(normalize_text("NFKC", text))
    return RUN.sub(" ", text), [term for run in runs for term in _index_terms(CLUSTER.findall(run))]


def list_query_terms(text: str, limit: int) -> list[str]:
    """The terms to search for, each once: the pairs of a run, or its only character; few if the text is long.

    Pairs of function words are left out beside others.
    """
    if not has_unspaced(text):
        return []
    found = dict.fromkeys(list_pairs(text))
    meaningful = [term for term in found if not has_function_alone(term)]
    return (meaningful or list(found))[:limit]


def list_pairs(text: str) -> list[str]:
    """The pairs of each run in order, or its only character."""
    return [term for run in RUN.findall(normalize_text("NFKC", text)) for term in _query_terms(CLUSTER.findall(run))]


def list_content_runs(text: str) -> list[str]:
    """The parts of each run between characters that mostly have a grammatical function."""
    runs = RUN.findall(normalize_text("NFKC", text)) if has_unspaced(text) else []
    return [part for run in runs for part in _FUNCTION_WORDS.split(run) if part]


def has_function_alone(term: str) -> bool:
    """Whether all of a term are characters that mostly have a grammatical function."""
    return _FUNCTION_WORDS.fullmatch(term) is not None


def has_function_character(term: str) -> bool:
    """Whether one of the characters of a term mostly has a grammatical function."""
    return _FUNCTION_WORDS.search(term) is not None


def _index_terms(clusters: list[str]) -> list[str]:
    """Each cluster but syllables of kana, which mean nothing alone, and each pair of neighbors."""
    return [
        *(cluster for cluster in clusters if not _SYLLABLE.match(cluster)),
        *(first + second for first, second in pairwise(clusters)),
    ]


def _query_terms(clusters: list[str]) -> list[str]:
    return [first + second for first, second in pairwise(clusters)] or _index_terms(clusters)


def normalize_text(form: Form, text: str) -> str:
    """The text in a form of Unicode: a slice at a time, since the time grows with the square of a run of marks."""
    if text.isascii() or len(text) <= SLICE_CHARACTERS:
        return unicodedata.normalize(form, text)
    slices = list[str]()
    at = 0
    while at < len(text):
        end = _find_slice_end(text, at)
        slices.append(unicodedata.normalize(form, text[at:end]))
        at = end
    return "".join(slices)


def _find_slice_end(text: str, start: int) -> int:
    """The end of a slice, before a character that does not combine with the one before it."""
    end = start + SLICE_CHARACTERS
    if end >= len(text):
        return len(text)
    return next((at for at in range(end, end - MAX_MARKS, -1) if _starts_anew(text[at])), end)


def _starts_anew(character: str) -> bool:
    """Whether a character, or the first one of its compatible form, combines with none before it."""
    first = unicodedata.normalize("NFKD", character)[0]
    joins = JAMO_VOWELS <= first <= JAMO_FINALS
    return not joins and not unicodedata.combining(first) and unicodedata.category(first)[0] != "M"
