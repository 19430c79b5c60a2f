"""What the audit log says of a question in the chat, and of a private answer that is shared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.audit import describe_sources
from bot.store import Subject
from bot.store.access.audit_chain import SYSTEM, AuditEvent

if TYPE_CHECKING:
    from bot.answers.draft import AnswerDraft
    from bot.answers.request import AnswerRequest
    from bot.context import BotContext
    from bot.platform.models import Location
    from bot.store import StoredAnswer

DOOR = "chat"


async def describe_question(
    context: BotContext, request: AnswerRequest, state: str, draft: AnswerDraft | None = None
) -> AuditEvent:
    """Who asked, where, how it ended, and which sources the answer drew on, as far as it was written."""
    place = request.location
    asker: Subject | str = SYSTEM if request.digest else Subject(place.platform, place.workspace, request.person)
    sources = describe_sources(draft.answer_sources, draft.found.retrieved) if draft is not None else {}
    event = AuditEvent("digest" if request.digest else "ask", state, asker, DOOR, workspace=place.workspace_key)
    return replace(event, place=await find_place(context, place), details={"answer": request.id, **sources})


async def describe_sharing(context: BotContext, stored: StoredAnswer, shared: str) -> AuditEvent:
    """Who shared a private answer, in which channel."""
    place = stored.location
    event = AuditEvent("share-answer", "done", Subject(place.platform, place.workspace, stored.asker), DOOR)
    details = {"answer": stored.id, "shared": shared, **describe_sources(stored.sources)}
    return replace(event, place=await find_place(context, place), details=details)


async def find_place(context: BotContext, location: Location) -> str:
    """The room of a place; none for direct messages, which would tell who writes there, nor if the lookup fails."""
    return "" if await context.audience.is_direct(location) else location.room
