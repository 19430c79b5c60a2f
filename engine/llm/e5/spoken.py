"""The languages that choose the embedder: those it serves, and those counted in what is said and kept in a file."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from engine.text.languages import detection
from engine.text.word_lists import word_set

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


FILE_NAME = "languages.json"
# The share of the lines from which on a language is taken, and below which it is dropped again: a change embeds all
# texts again. Of lines of one language, the detection takes up to 3 % for another one.
TAKEN_SHARE, DROPPED_SHARE = 0.1, 0.03
MIN_LINES = 40
MAX_SHOWN = 4
# ISO 639-1 codes. Source: Conneau et al. 2020 (XLM-R), whose training data the model has seen.
LANGUAGES = word_set(
    "af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi hr hu hy id is it"
    " ja jv ka kk km kn ko ku ky la lo lt lv mg mk ml mn mr ms my ne nl no om or pa pl ps pt ro ru sa sd si sk sl so sq"
    " sr su sv sw ta te th tl tr ug uk ur uz vi xh yi zh"
)
OTHER = detection.OTHER  # stands for all languages that are not told apart
ENGLISH = frozenset({"en"})


@dataclass(frozen=True, slots=True)
class SpokenLanguages:
    """The last count. `chosen`: in force from the next start on, if the choice is left to the count.

    `wanted`: what would be chosen if the weights for it were installed. `shares`: of the `lines` that were told.
    `counted_at`: seconds since the epoch.
    """

    chosen: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    lines: int = 0
    counted_at: float = 0.0


def choose_languages(former: Sequence[str], counts: Mapping[str, int]) -> tuple[str, ...]:
    """The languages of so many lines, the most frequent first; the former ones if there are too few lines. Pure.

    If none has its share, the most frequent ones.
    """
    known = {language: count for language, count in counts.items() if language in {*LANGUAGES, OTHER}}
    total = sum(known.values())
    if total < MIN_LINES:
        return tuple(former)
    order = sorted(known, key=lambda language: (-known[language], language))
    least = {language: DROPPED_SHARE if language in former else TAKEN_SHARE for language in order}
    taken = tuple(language for language in order if known[language] / total >= least[language])
    return taken or tuple(order[:MAX_SHOWN])


def load_spoken(data_dir: Path) -> SpokenLanguages | None:
    """The last count; None if there is none, or the file is damaged: it is counted again."""
    try:
        found = json.loads((data_dir / FILE_NAME).read_text(encoding="utf-8"))
        shares = {str(language): float(share) for language, share in found["shares"].items()}
        chosen, wanted = (tuple(map(str, found[name])) for name in ("chosen", "wanted"))
        counted_at = float(found["counted_at"])
        return SpokenLanguages(chosen, wanted, shares, int(found["lines"]), counted_at)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def save_spoken(data_dir: Path, spoken: SpokenLanguages) -> None:
    """Replace the file as a whole. Raises OSError."""
    path = data_dir / FILE_NAME
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        json.dump(asdict(spoken), file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def describe_languages(used: Sequence[str], spoken: SpokenLanguages | None) -> str:
    """Which languages are in force, and what was counted, in a few sentences."""
    texts = [f"In force: {', '.join(used)}." if used else "None is set: the embedder knows English only."]
    if spoken is None or not spoken.lines:
        return f"{texts[0]} What is said was not counted yet."
    most = sorted(spoken.shares, key=lambda language: (-spoken.shares[language], language))[:MAX_SHOWN]
    shares = ", ".join(f"{language} {spoken.shares[language]:.0%}" for language in most)
    texts.append(f"Of {spoken.lines:,} lines that were told: {shares}.")
    if spoken.wanted != spoken.chosen:
        texts.append(f"For {', '.join(spoken.wanted)} install the weights: threadlore setup.")
    elif set(spoken.chosen) != set(used):
        texts.append(f"THREADLORE_LANGUAGES=auto takes {', '.join(spoken.chosen)} at the next start.")
    return " ".join(texts)


def needs_multilingual(languages: Sequence[str]) -> bool:
    """Whether the English embedder does not know one of the languages; False if none is said."""
    return not ENGLISH.issuperset(languages)
