"""Cache key of an answer."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.models import LLMMessage, Scope


def answer_cache_key(language: str, model: str, messages: Sequence[LLMMessage], scope: Scope | None) -> bytes:
    """SHA-256 of the model, the scope and the final messages, so that a cached answer is never outdated.

    The scope is included because a fast answer would reveal that somebody asked the same question before.
    """
    scope_keys = [sorted(scope.spaces), sorted(scope.rooms)] if scope else None
    content = [language, model, scope_keys, *([message.role, message.content] for message in messages)]
    return sha256(json.dumps(content, ensure_ascii=False).encode()).digest()
