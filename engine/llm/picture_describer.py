"""Describes pictures with a vision model, through litellm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from engine.errors import EmptyDocument, InvalidApiKey, ModelNotFound, ModelRefused, PromptTooLong
from engine.llm.client.client import ChatRequest
from engine.llm.prompts import render_picture
from engine.usage import UsageMeter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from engine.llm.client.client import ModelClient
    from engine.llm.config import ModelConfig

log = structlog.get_logger(__name__)

# The same picture fails at every attempt.
PERMANENT_ERRORS = (InvalidApiKey, ModelNotFound, ModelRefused, PromptTooLong)
LOG_HINT = "An administrator finds the reason in the log."
MAX_LENGTH = 20_000  # characters of a description; a page full of small print has 8,000


@dataclass(frozen=True, slots=True)
class LiteLLMPictureDescriber:
    """Implements `PictureDescriber`. `record_usage` receives the usage of each call."""

    model: ModelConfig
    client: ModelClient
    record_usage: Callable[[UsageMeter], Awaitable[None]]

    async def describe(self, jpeg: bytes) -> str:
        meter = UsageMeter()
        try:
            reply = await self.client.complete(ChatRequest(self.model, "describe", render_picture(jpeg)), meter)
        except PERMANENT_ERRORS as error:
            log.warning("ingest.picture_not_described", error=str(error), hint=error.hint)
            raise EmptyDocument("The picture could not be described.", hint=LOG_HINT) from error
        finally:
            await self.record_usage(meter)
        if not reply.strip():
            raise EmptyDocument("There is nothing to describe in the picture.")
        return reply[:MAX_LENGTH]
