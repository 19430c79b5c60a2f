"""Keep answers that are given outside of the chat, so that they can be judged, until a source of them goes."""

from __future__ import annotations

import secrets
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bot.answers.draft import AnswerDraft, AskedQuestion, FoundEvidence, WrittenText
from bot.answers.footer import find_graph_keys
from bot.answers.history import History
from bot.answers.question import AnswerRequest
from bot.capabilities.access.control import locate_subject
from bot.capabilities.answers.lookup import is_own
from bot.capabilities.results import AnswerBegun, AnswerDelta, AnswerEnd, DrawsOn
from bot.permissions.provenance import build_provenance
from engine import Scope
from engine.errors import WRITES_REFUSED

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.requests import Ask
    from bot.capabilities.results import HandlerResult
    from bot.store import AnswerResult, BotStore, StoredAnswer
    from engine import Answer

ID_BYTES = 10


@dataclass(slots=True)
class _Record:
    """What is learned of an answer while it is given."""

    request: AnswerRequest
    history: History
    scope: Scope
    answer: Answer | None = None
    drawn: DrawsOn | None = None
    pieces: list[str] = field(default_factory=list)
    is_kept: bool = False

    def observe(self, result: HandlerResult) -> None:
        """Learn from a result."""
        match result:
            case AnswerBegun(answer=answer):
                self.answer = answer
            case DrawsOn():
                self.drawn = result
            case AnswerDelta(text=text):
                self.pieces.append(text)

    async def build_result(self, end: AnswerEnd) -> AnswerResult:
        """The answer as it is stored, with the keys of all that it rests on, as answers in the chat have them."""
        text, answer = "".join(self.pieces), self.answer
        asked = AskedQuestion(self.request, history=self.history)
        if self.drawn is not None:
            found = FoundEvidence(provenance=self.drawn.provenance, verified=self.drawn.verified)
        elif answer is not None:
            found = FoundEvidence(
                answer.context,
                build_provenance(answer.context, self.scope, self.history.source_scope, 0.0),
                end.sources,
                is_extractive=answer.is_extractive,
                graph_keys=await find_graph_keys(answer, text, self.request.text, end.sources),
            )
        else:
            found = FoundEvidence()
        return AnswerDraft(asked, found, WrittenText(text)).build_result()


async def keep_answer(
    deps: Deps, caller: Caller, request: Ask, results: AsyncGenerator[HandlerResult]
) -> AsyncGenerator[HandlerResult]:
    """Pass on the results of a question, and keep its answer, whose id is in the end of it.

    It is not kept while the database takes no changes, nor if the conversation has answers that are not kept (anymore):
    what it rests on is then unknown.
    """
    store = (await deps.parts.open()).store
    earlier = await _find_earlier(store, caller, request)
    record = None if earlier is None else await _begin(deps, store, caller, request, earlier)
    try:
        async with aclosing(results):
            async for result in results:
                if record is not None:
                    record.observe(result)
                    if isinstance(result, AnswerEnd):
                        yield replace(result, answer=await _finish(store, record, result))
                        continue
                yield result
    finally:
        if record is not None and not record.is_kept:
            await _discard_unfinished(store, record.request.id)


async def _find_earlier(store: BotStore, caller: Caller, request: Ask) -> list[StoredAnswer] | None:
    """The answers of the conversation so far; None if one of them is not kept."""
    found = [await store.answers.get(id_) for id_ in dict.fromkeys(request.earlier)]
    kept = [
        answer for answer in found if answer is not None and answer.state == "done" and is_own(answer, caller.subject)
    ]
    turns = [turn for turn in request.history if turn.role == "assistant"]
    return kept if len(kept) == len(found) >= len(turns) else None


async def _begin(
    deps: Deps, store: BotStore, caller: Caller, request: Ask, earlier: list[StoredAnswer]
) -> _Record | None:
    """Store the question; None if the database takes no changes."""
    place = locate_subject(caller.subject)
    thread = (earlier[0].location.thread or earlier[0].id) if earlier else ""
    asked = AnswerRequest(
        secrets.token_hex(ID_BYTES),
        replace(place, thread=thread),
        caller.subject.person,
        request.text.strip(),
        deps.clock.now(),
        private=True,
    )
    try:
        await store.answers.begin(asked.to_stored_answer())
    except WRITES_REFUSED:
        return None
    return _Record(asked, _build_history(earlier), caller.scope)


def _build_history(earlier: list[StoredAnswer]) -> History:
    """What the answers of the conversation so far rest on."""
    used = Scope(
        frozenset(space for answer in earlier for space in answer.spaces),
        frozenset(room for answer in earlier for room in answer.rooms),
    )
    keyed = tuple((f"{answer.question}\n{answer.text}", answer.documents) for answer in earlier)
    shown = frozenset[str]().union(*(answer.shown_keys | answer.documents for answer in earlier))
    return History((), used, keyed, shown)


async def _finish(store: BotStore, record: _Record, end: AnswerEnd) -> str:
    """Store the answer; its id, or "" if it is not kept, for example because a source was removed meanwhile."""
    try:
        record.is_kept = await store.answers.finish(record.request.id, await record.build_result(end))
    except WRITES_REFUSED:
        return ""
    return record.request.id if record.is_kept else ""


async def _discard_unfinished(store: BotStore, id_: str) -> None:
    try:
        await store.answers.delete_unfinished(id_)
    except WRITES_REFUSED:
        return  # the row has no text, and goes with the oldest answers
