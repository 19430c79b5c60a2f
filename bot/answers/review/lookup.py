"""Find the verified answer to a question, and show it in place of a new one.

A verified answer is a row of the bot, not a document of the engine: as a source among others it would be visible to
everyone in its space, while it may be shown only to those who can read everything that it rests on.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bot import review_texts
from bot.answers.footer import source_urls
from bot.answers.review.same_question import QuestionWords
from bot.errors import PlatformError
from bot.i18n import gettext
from bot.permissions.provenance import Provenance, can_read
from engine import Filters, Scope
from engine.errors import ModelError

if TYPE_CHECKING:
    from bot.answers.delivery import StreamingReply
    from bot.answers.draft import AnswerDraft
    from bot.answers.request import AnswerRequest
    from bot.context import BotContext
    from bot.store import VerifiedAnswer
    from engine import Question

MAX_CANDIDATES = 20  # verified questions with the same words whose vectors are compared
FOLLOW_UP_WORDS = 2  # words of a follow-up question; one with fewer may mean something else in its thread


class VerifiedLookup:
    """Shows verified answers."""

    def __init__(self, context: BotContext) -> None:
        self._context = context

    async def show(
        self, draft: AnswerDraft, question: Question, delivery: StreamingReply, since: float, *, is_follow_up: bool
    ) -> bool:
        """Make a draft repeat the verified answer to its question; False if there is none.

        `since`: a time before the scope of the question was resolved, by the clock of AudienceResolver.
        """
        request = draft.request
        if request.uploads or not _is_plain(question, is_follow_up=is_follow_up):
            return False
        verified = await self._find(question, request)
        if verified is None:
            return False
        draft.verified, draft.text = verified, verified.text
        draft.provenance = Provenance(provenance_of(verified).source_scope, {}, since)
        delivery.can_show = partial(
            can_read, self._context.audience, draft.provenance, request.location, request.sole_reader
        )
        delivery.citation_urls = lambda: source_urls(verified.sources)
        name = await self._verifier_name(verified)
        heading = review_texts.format_verified(name, verified.verified_at, verified.question)
        delivery.heading = f"{delivery.heading}\n\n{heading}" if delivery.heading else heading
        draft.notices.append(gettext(review_texts.VERIFIED_HINT))
        return True

    async def _find(self, question: Question, request: AnswerRequest) -> VerifiedAnswer | None:
        """The answer to the most similar question that all readers of the reply may read."""
        store, found = self._context.store.verified_answers, list[tuple[str, str]]()
        for platform, workspace in sorted(_workspaces(question.scope)):
            found += [(id_, text) for id_, _, text in await store.list_questions(platform, workspace)]
        words, likely = QuestionWords.parse(question.text), list[tuple[str, str, float]]()
        for id_, text in found:
            needed = words.min_similarity(QuestionWords.parse(text))
            likely += [] if needed is None else [(id_, text, needed)]
        for id_ in await self._rank(question.text, likely[:MAX_CANDIDATES]):
            verified = await store.get(id_)
            if verified is not None and await can_read(
                self._context.audience, provenance_of(verified), request.location, request.sole_reader
            ):
                return verified
        return None

    async def _rank(self, question: str, candidates: list[tuple[str, str, float]]) -> list[str]:
        """The ids of the candidates that ask the same, the most similar first; each with the similarity it needs."""
        if not candidates:
            return []
        try:
            similarities = await self._context.engine_context.engine.measure_similarities(
                [question, *(text for _, text, _ in candidates)]
            )
        except ModelError:
            return []  # the search for sources reports it
        scored = zip(similarities[0][1:].tolist(), candidates, strict=True)
        same = [(similarity, id_) for similarity, (id_, _, needed) in scored if similarity >= needed]
        return [id_ for _, id_ in sorted(same, key=lambda each: -each[0])]

    async def _verifier_name(self, verified: VerifiedAnswer) -> str:
        location = verified.location
        try:
            return (
                await self._context.audience.get_person(location.platform, location.workspace, verified.verifier)
            ).name
        except PlatformError:
            return gettext(review_texts.SOMEBODY)


def provenance_of(verified: VerifiedAnswer) -> Provenance:
    """What readers of a verified answer must be able to read: its sources, and where it was verified."""
    rooms = verified.rooms.union({verified.location.room}, (each.room for each in verified.sources))
    return Provenance(Scope(verified.spaces, rooms), {}, 0.0)


def _is_plain(question: Question, *, is_follow_up: bool) -> bool:
    """Whether a question asks for a fact, in its own words, among everything in its scope."""
    if question.mode == "bypass" or question.overview is not None or question.filters != Filters() or question.writers:
        return False
    return len(QuestionWords.parse(question.text).stems) >= (FOLLOW_UP_WORDS if is_follow_up else 1)


def _workspaces(scope: Scope) -> set[tuple[str, str]]:
    """The platforms and workspaces of the spaces and rooms of a scope, whose names begin with both."""
    names = (each.split(":") for each in scope.spaces | scope.rooms)
    return {(parts[0], parts[1]) for parts in names if len(parts) > 1}
