"""Render the content of a message as providers take it: its text, its pictures, and what may be cached of it. Pure."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from engine.text.tokenizer import MEAN_CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    from engine.llm.config import ModelConfig
    from engine.models import LLMMessage

# Claude caches a beginning only where it is marked, and only from this length on; other providers need no mark.
MARKED_FAMILY = "claude"
MIN_CACHED_CHARACTERS = 1_024 * MEAN_CHARACTERS_PER_TOKEN
CACHE_MARK = {"cache_control": {"type": "ephemeral"}}


def render_content(message: LLMMessage, model: ModelConfig) -> str | list[dict[str, Any]]:
    """The text, followed by the pictures as data URLs if there are any; parts if the beginning is to be cached."""
    addresses = [f"data:image/jpeg;base64,{base64.b64encode(picture).decode()}" for picture in message.pictures]
    pictures = [{"type": "image_url", "image_url": {"url": address}} for address in addresses]
    if message.shared >= MIN_CACHED_CHARACTERS and MARKED_FAMILY in model.model.casefold():
        return [*_split_text(message.content, message.shared), *pictures]
    return [_build_text(message.content), *pictures] if pictures else message.content


def _split_text(text: str, shared: int) -> list[dict[str, Any]]:
    rest = [_build_text(text[shared:])] if text[shared:].strip() else []
    return [{**_build_text(text[:shared]), **CACHE_MARK}, *rest]


def _build_text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
