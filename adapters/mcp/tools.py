"""The tools, each a request to the service."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server.mcpserver import Context  # noqa: TC002  - read at run time, as are the records
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from adapters.mcp.caller import read_headers
from adapters.mcp.records import CitedAnswer, EntityRecord, ListedDocument, Neighborhood, RetrievedContext
from adapters.mcp.resources import document_uri
from bot.capabilities.documents.requests import Summarize
from bot.capabilities.graph.requests import MAX_NEIGHBORS, GetSubgraph, SubgraphResult
from bot.capabilities.requests import Ask, GetEntity, ListDocuments
from bot.capabilities.results import AnswerDelta, AnswerEnd, ContextResult, DocumentList, EntityResult
from bot.text.format import parse_since
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.mcp.caller import Caller
    from bot.capabilities.requests import OperationRequest
    from engine import Clock

MAX_QUESTION_LENGTH, MAX_NAME_LENGTH, MAX_KEY_LENGTH, MAX_DOCUMENTS = 20_000, 500, 2000, 500
PROGRESS_SECONDS = 0.25  # between two reports of an answer
QuestionText = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_LENGTH)]
NameText = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH)]
OptionalName = Annotated[str, Field(max_length=MAX_NAME_LENGTH)]
OptionalKey = Annotated[str, Field(max_length=MAX_KEY_LENGTH, description="The key of a document.")]
TimeWords = Annotated[str, Field(max_length=100, description="Such as 2h, 3 days or 2026-05-12 09:30 (UTC).")]
DayWords = Annotated[
    str, Field(max_length=40, description="A day such as 2026-05-03, after which nothing is known; empty for now.")
]


class Tools:
    """The tools of the server."""

    def __init__(self, caller: Caller, clock: Clock) -> None:
        self._caller = caller
        self._clock = clock

    async def ask(self, question: QuestionText, context: Context[Any, Any], as_of: DayWords = "") -> CitedAnswer:
        """Answer a question about what the team wrote, with numbered sources; as of a day, from what was known then."""
        return await self._answer(context, Ask(question, as_of=as_of))

    async def retrieve(
        self, question: QuestionText, context: Context[Any, Any], as_of: DayWords = ""
    ) -> RetrievedContext:
        """Find the entities, relations and passages that belong to a question, as of a day, without an answer."""
        request = Ask(question, output="context", as_of=as_of)
        return RetrievedContext.of(await self._caller.get_result(_headers_of(context), request, ContextResult))

    async def entity(self, name: NameText, context: Context[Any, Any]) -> EntityRecord:
        """Look up a person, a thing or a place with its strongest relations."""
        request = GetEntity(name)
        return EntityRecord.of(await self._caller.get_result(_headers_of(context), request, EntityResult))

    async def neighborhood(
        self,
        name: NameText,
        context: Context[Any, Any],
        depth: Annotated[int, Field(ge=1, le=2)] = 1,
        limit: Annotated[int, Field(ge=1, le=200)] = MAX_NEIGHBORS,
    ) -> Neighborhood:
        """List who and what a person, a thing or a place is related to, the strongest relations first."""
        request = GetSubgraph(name, depth, limit)
        return Neighborhood.of(await self._caller.get_result(_headers_of(context), request, SubgraphResult))

    async def documents(
        self, context: Context[Any, Any], offset: Annotated[int, Field(ge=0)] = 0, search: OptionalName = ""
    ) -> list[ListedDocument]:
        """List the documents that can be read, or have the words in their title or key; the resource has the text."""
        request = ListDocuments(search, offset=offset, limit=MAX_DOCUMENTS)
        listed = (await self._caller.get_result(_headers_of(context), request, DocumentList)).documents
        return [ListedDocument.of(document, document_uri(document.key)) for document in listed]

    async def summary(
        self,
        context: Context[Any, Any],
        channel: OptionalName = "",
        document: OptionalKey = "",
        since: TimeWords = "",
        form: Literal["summary", "digest"] = "summary",
    ) -> CitedAnswer:
        """Summarize a channel, a document (also a thread), or everything that can be read, since a time.

        A digest has sections for decisions, open questions and files.
        """
        try:
            began = parse_since(since, self._clock.now()) if since.strip() else None
        except InvalidQuestion as error:
            raise ToolError(f"{error} {error.hint}") from error
        return await self._answer(context, Summarize(channel, document, began, overview=form))

    async def _answer(self, context: Context[Any, Any], request: OperationRequest) -> CitedAnswer:
        """The answer to a request; its text so far is reported as progress to a client that wants this."""
        text, end, reported, reported_at = "", AnswerEnd((), ()), 0, self._clock.monotonic()
        async with aclosing(self._caller.perform(_headers_of(context), request)) as results:
            async for result in results:
                if isinstance(result, AnswerDelta):
                    text += result.text
                    if self._clock.monotonic() - reported_at >= PROGRESS_SECONDS or not reported:
                        await context.report_progress(len(text), message=text[reported:])
                        reported, reported_at = len(text), self._clock.monotonic()
                elif isinstance(result, AnswerEnd):
                    end = result
        return CitedAnswer.of(text, end)


def _headers_of(context: Context[Any, Any]) -> Mapping[str, str] | None:
    return read_headers(context.request_context.request)
