"""The hint at a terminal that a model can be set: told once to each person, below the first quotations."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.settings import Settings

HINT = (
    "Without a language model, answers are quotations. To have them written, set THREADLORE_LLM_MODEL and its key "
    "(`.env.example` explains both). This is said once."
)
HINT_FILE = ".model-hint-shown"


def model_hint(settings: Settings) -> str:
    """The hint, if a person is to be told; a file in the data folder remembers that they were."""
    marker = settings.data_path / HINT_FILE
    if settings.llm_model or marker.exists():
        return ""
    with suppress(OSError):  # then it is said once more
        marker.touch()
    return HINT
