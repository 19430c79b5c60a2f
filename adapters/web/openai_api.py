"""OpenAI-compatible endpoints, so that existing chat programs can ask: the last message is the question."""

from __future__ import annotations

import uuid
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from adapters.web.models import MAX_TURN_LENGTH, SourceItem
from adapters.web.operations import check_token, perform
from adapters.web.security import Token  # noqa: TC001  - read at run time
from adapters.web.streams import EVENT_STREAM, StreamFormat, open_stream
from bot.capabilities.access.hints import list_end_notices
from bot.capabilities.requests import Ask
from bot.capabilities.results import AnswerDelta, AnswerEnd
from bot.text.markdown import Citation, Link, MarkdownMarkup, render_parts
from engine import ChatTurn
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.results import OperationResult
    from bot.text.markdown import Part
    from engine import Source

router = APIRouter(prefix="/v1", tags=["OpenAI-compatible"])

MODEL = "threadlore"
MAX_MESSAGES = 100
CHAT_STREAM = StreamFormat(EVENT_STREAM, "data: [DONE]\n\n")


class TextPart(BaseModel):
    """A part of a message; parts other than text are ignored."""

    type: str
    text: Annotated[str, Field(max_length=MAX_TURN_LENGTH)] = ""


class ChatMessage(BaseModel):
    """A message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Annotated[str, Field(max_length=MAX_TURN_LENGTH)] | list[TextPart] | None = ""

    @property
    def text(self) -> str:
        """What the message says."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class StreamOptions(BaseModel):
    """What a stream carries besides the answer."""

    include_usage: bool | None = False


class ChatBody(BaseModel):
    """A conversation. Further parameters of the protocol are accepted and have no effect."""

    model_config = ConfigDict(extra="allow")
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MAX_MESSAGES)]
    model: str | None = MODEL
    stream: bool | None = False
    stream_options: StreamOptions | None = None


@router.get("/models")
async def list_models(http: Request, token: Token) -> dict[str, Any]:
    """List the one model, for every valid token."""
    await check_token(http, token)
    return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}]}


@router.post("/chat/completions", response_class=Response, responses={200: {"content": {"application/json": {}}}})
async def complete_chat(http: Request, token: Token, body: ChatBody) -> Any:
    """Answer the last message of a conversation; citations follow the answer, and are in `citations`."""
    results = perform(http, token, _build_request(body))
    head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(http.app.state.clock.time()), "model": MODEL}
    if body.stream:
        include_usage = body.stream_options is not None and bool(body.stream_options.include_usage)
        return await open_stream(_list_chunks(head, results, include_usage=include_usage), CHAT_STREAM)
    pieces, end = list[str](), AnswerEnd((), ())
    async with aclosing(results):
        async for result in results:
            if isinstance(result, AnswerDelta):
                pieces.append(result.text)
            elif isinstance(result, AnswerEnd):
                end = result
    message = {"role": "assistant", "content": "".join(pieces) + format_citations(end)}
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(end)}
    described = {"usage": _count_tokens(end), "citations": _list_citations(end)}
    return JSONResponse({**head, "object": "chat.completion", "choices": [choice], **described})


def format_citations(end: AnswerEnd) -> str:
    """What follows an answer in Markdown: its sources as a list, and what it leaves out."""
    markup = MarkdownMarkup()
    lines = [render_parts(_source_parts(source), markup) for source in end.sources]
    parts = ["\n".join(lines), *(f"_{notice}_" for notice in list_end_notices(end))]
    return "".join(f"\n\n{part}" for part in parts if part)


def _source_parts(source: Source) -> list[Part]:
    title = f"{source.title} · {source.label}" if source.label else source.title
    return [Citation(source.number), Link(title, source.link)]


def _build_request(body: ChatBody) -> Ask:
    """The last message as a question, the ones before as its history. Raises InvalidQuestion."""
    talk = [message for message in body.messages if message.role in {"user", "assistant"} and message.text.strip()]
    if not talk or talk[-1].role != "user":
        raise InvalidQuestion("The last message must be one of the user.", hint="Put the question at the end.")
    history = tuple(ChatTurn("user" if message.role == "user" else "assistant", message.text) for message in talk[:-1])
    return Ask(talk[-1].text, history=history)


async def _list_chunks(
    head: dict[str, Any], results: AsyncGenerator[OperationResult], *, include_usage: bool
) -> AsyncGenerator[dict[str, Any]]:
    no_usage = {"usage": None} if include_usage else {}

    def chunk(delta: dict[str, str], reason: str | None = None, **more: Any) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {**head, "object": "chat.completion.chunk", "choices": [choice], **no_usage, **more}

    async with aclosing(results):
        async for result in results:
            if isinstance(result, AnswerDelta):
                yield chunk({"role": "assistant", "content": result.text})
            elif isinstance(result, AnswerEnd):
                if cited := format_citations(result):
                    yield chunk({"content": cited})
                yield chunk({}, _finish_reason(result), citations=_list_citations(result))
                if include_usage:  # a chunk of its own, as the protocol says
                    yield {**chunk({}), "choices": [], "usage": _count_tokens(result)}


def _finish_reason(end: AnswerEnd) -> str:
    return "content_filter" if end.filtered else "length" if end.cut_off else "stop"


def _count_tokens(end: AnswerEnd) -> dict[str, int]:
    prompt = sum(call.input_tokens for call in end.usage)
    completion = sum(call.output_tokens for call in end.usage)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _list_citations(end: AnswerEnd) -> list[dict[str, Any]]:
    return [SourceItem.of(source).model_dump(mode="json") for source in end.sources]
