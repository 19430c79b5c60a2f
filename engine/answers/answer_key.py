"""Cache key of an answer."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.models import LLMMessage, Scope


def answer_cache_key(language: str, model: str, messages: Sequence[LLMMessage], scope: Scope | None) -> bytes:
    """The identity of an answer: the model and the final messages, so that it can never be out of date.

    The scope belongs to it too: an answer that comes at once tells that somebody asked the same before.
    """
    asked = [sorted(scope.spaces), sorted(scope.rooms)] if scope else None
    told = [language, model, asked, *([message.role, message.content] for message in messages)]
    return sha256(json.dumps(told, ensure_ascii=False).encode()).digest()
