"""Questions: a whole answer, a streamed one, or the retrieved context alone."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import StreamingResponse  # noqa: TC002  - read at run time

from adapters.web.models import AnswerBody, ContextBody, EntityItem, QueryBody, RelationItem, SourceItem, UsageItem
from adapters.web.operations import get_result, perform
from adapters.web.security import Token  # noqa: TC001  - read at run time
from adapters.web.streams import EVENT_STREAM, NDJSON, StreamFormat, open_stream
from bot.capabilities.access.hints import list_context_notices, list_end_notices
from bot.capabilities.results import AnswerDelta, AnswerEnd, ContextResult

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.results import OperationResult

router = APIRouter(tags=["questions"])


@router.post("/query")
async def query(http: Request, token: Token, body: QueryBody) -> AnswerBody:
    """Answer a question."""
    return await collect_answer(perform(http, token, body.to_request("answer")))


@router.post("/query/stream", response_class=Response, responses={200: {"content": {NDJSON: {}, EVENT_STREAM: {}}}})
async def query_stream(
    http: Request, token: Token, body: QueryBody, accept: Annotated[str, Header()] = NDJSON
) -> StreamingResponse:
    """Stream an answer: lines of JSON, or server-sent events if the client accepts these.

    Each event has a type: delta, with the next text; at last end, with sources, usage and whether it is incomplete, or
    error, with a problem, after which the text so far is not to be used.
    """
    stream_format = StreamFormat(EVENT_STREAM if EVENT_STREAM in accept else NDJSON)
    return await open_stream(_list_events(perform(http, token, body.to_request("answer"))), stream_format)


@router.post("/query/data")
async def query_data(http: Request, token: Token, body: QueryBody) -> ContextBody:
    """Retrieve the context of a question, without an answer."""
    found = await get_result(http, token, body.to_request("context"), ContextResult)
    context = found.context
    return ContextBody(
        entities=list(map(EntityItem.of, context.entities)),
        relations=list(map(RelationItem.of, context.relations)),
        sources=list(map(SourceItem.of, context.sources)),
        high_keywords=list(context.question.high),
        low_keywords=list(context.question.low),
        notices=list_context_notices(found),
    )


async def collect_answer(results: AsyncGenerator[OperationResult]) -> AnswerBody:
    """The whole answer."""
    pieces = list[str]()
    async with aclosing(results):
        async for result in results:
            if isinstance(result, AnswerDelta):
                pieces.append(result.text)
            elif isinstance(result, AnswerEnd):
                return to_answer("".join(pieces), result)
    return AnswerBody(answer="".join(pieces), sources=[], usage=[], incomplete=True)


def to_answer(text: str, end: AnswerEnd) -> AnswerBody:
    """An answer that has ended."""
    return AnswerBody(
        answer=text,
        sources=list(map(SourceItem.of, end.sources)),
        usage=list(map(UsageItem.of, end.usage)),
        incomplete=end.cut_off,
        notices=list_end_notices(end),
        id=end.answer,
    )


async def _list_events(results: AsyncGenerator[OperationResult]) -> AsyncGenerator[dict[str, object]]:
    async with aclosing(results):
        async for result in results:
            if isinstance(result, AnswerDelta):
                yield {"type": "delta", "text": result.text}
            elif isinstance(result, AnswerEnd):
                yield {"type": "end", **to_answer("", result).model_dump(mode="json", exclude={"answer"})}
