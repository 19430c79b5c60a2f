"""The languages that multilingual-e5-small was trained on, and which built-in embedder languages need. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.languages import detection
from engine.text.word_lists import word_set

if TYPE_CHECKING:
    from collections.abc import Sequence

# ISO 639-1 codes. Source: Conneau et al. 2020 (XLM-R), whose training data the model has seen.
LANGUAGES = word_set(
    "af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi hr hu hy id is it"
    " ja jv ka kk km kn ko ku ky la lo lt lv mg mk ml mn mr ms my ne nl no om or pa pl ps pt ro ru sa sd si sk sl so sq"
    " sr su sv sw ta te th tl tr ug uk ur uz vi xh yi zh"
)
OTHER = detection.OTHER  # stands for all languages that are not told apart
ENGLISH = frozenset({"en"})


def needs_multilingual(languages: Sequence[str]) -> bool:
    """Whether the English embedder does not know one of the languages; False if none is said."""
    return not ENGLISH.issuperset(languages)
