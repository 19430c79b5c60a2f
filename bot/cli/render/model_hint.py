"""A hint, shown once below the first quoted answer, that a language model can be configured."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.settings import Settings

HINT = (
    "Without a language model, answers quote your documents. To have them written by a model, set THREADLORE_LLM_MODEL "
    "and its API key (see `.env.example`). This hint is shown only once."
)
HINT_FILE = ".model-hint-shown"


def model_hint(settings: Settings) -> str:
    """The hint, or "" if it was shown before; a file in the data directory records that."""
    marker = settings.data_path / HINT_FILE
    if settings.llm_model or marker.exists():
        return ""
    with suppress(OSError):  # the hint is shown again next time
        marker.touch()
    return HINT
