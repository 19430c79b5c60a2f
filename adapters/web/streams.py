"""Streams of events as lines of JSON or as server-sent events."""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog
from fastapi.responses import StreamingResponse

from adapters.web import problems

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

log = structlog.get_logger(__name__)

NDJSON, EVENT_STREAM = "application/x-ndjson", "text/event-stream"
Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StreamFormat:
    """How events are written. `terminator`: what is sent at the end of a complete stream."""

    media_type: str
    terminator: str = ""

    def encode(self, event: Event) -> bytes:
        """One event."""
        text = json.dumps(event, ensure_ascii=False)
        return (f"data: {text}\n\n" if self.media_type == EVENT_STREAM else f"{text}\n").encode()


async def open_stream(events: AsyncGenerator[Event], stream_format: StreamFormat) -> StreamingResponse:
    """Respond with a stream. Raises the error that comes before the first event; a later one is an event itself."""
    try:
        first = await anext(events)
    except StopAsyncIteration:
        first = {"type": "end"}
    except BaseException:
        await events.aclose()
        raise
    return StreamingResponse(_encode_all(first, events, stream_format), media_type=stream_format.media_type)


async def _encode_all(
    first: Event, events: AsyncGenerator[Event], stream_format: StreamFormat
) -> AsyncGenerator[bytes]:
    async with aclosing(events):
        yield stream_format.encode(first)
        try:
            async for event in events:
                yield stream_format.encode(event)
        except Exception as error:
            problem = problems.describe(error)
            if problems.is_internal(problem):
                log.exception("web.stream_failed")
            yield stream_format.encode({"type": "error", "error": problem.model_dump()})
            return
    if stream_format.terminator:
        yield stream_format.terminator.encode()
