"""Describes pictures with a vision model, through litellm."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

import structlog

from engine.errors import TEXT_ERRORS, EmptyDocument, NothingGiven
from engine.llm.client.client import ChatRequest
from engine.llm.prompts import render_picture
from engine.llm.replies.texts import JudgedCalls
from engine.usage import UsageMeter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from engine.llm.client.client import ModelClient
    from engine.llm.config import ModelConfig

log = structlog.get_logger(__name__)

LOG_HINT = "An administrator finds the reason in the log."
MAX_REMEMBERED = 200  # descriptions


@dataclass(frozen=True, slots=True)
class LiteLLMPictureDescriber:
    """Implements `PictureDescriber`. `record_usage` receives the usage of each call.

    The last descriptions are in memory, by the hash of the picture: a file that is read again because one of its
    pictures could not be described then has no other described again. They depend on nothing but the picture.
    """

    model: ModelConfig
    client: ModelClient
    record_usage: Callable[[UsageMeter], Awaitable[None]]
    _remembered: dict[bytes, str] = field(default_factory=dict, init=False, repr=False)

    async def describe(self, jpeg: bytes) -> str:
        key = sha256(jpeg).digest()
        description = self._remembered.pop(key, "") or await self._describe(jpeg)
        self._remembered[key] = description
        if len(self._remembered) > MAX_REMEMBERED:
            self._remembered.pop(next(iter(self._remembered)))
        return description

    async def _describe(self, jpeg: bytes) -> str:
        meter = UsageMeter()
        try:
            calls = JudgedCalls(self.client.complete_reply, self.client.observers.outcome)
            return await calls.write_text(ChatRequest(self.model, "describe", render_picture(jpeg)), meter)
        except NothingGiven as error:
            raise EmptyDocument("The vision model gave nothing for the picture.", hint=str(error)) from error
        except TEXT_ERRORS as error:  # the same picture fails at every attempt
            log.warning("ingest.picture_not_described", error=str(error), hint=error.hint)
            raise EmptyDocument("The picture could not be described.", hint=LOG_HINT) from error
        finally:
            await self.record_usage(meter)
