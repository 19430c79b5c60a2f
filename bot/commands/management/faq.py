"""The page of frequent questions of a person, or of a channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.answers.review.lookup import provenance_of
from bot.capabilities.faq.operations import Entry, OpenQuestion, write_page
from bot.capabilities.results import ExportLine
from bot.commands.review.unanswered import find_name, find_unanswered
from bot.permissions.provenance import can_read

if TYPE_CHECKING:
    from bot.capabilities.faq.requests import GetFaq
    from bot.commands.context import PersonAtPlace
    from bot.commands.management.manager import Manager
    from bot.store import VerifiedAnswer

MAX_QUESTIONS = 50


async def get_faq(manager: Manager, request: GetFaq) -> ExportLine:
    """Write the FAQ page of what the person may read; for a channel, of what all its readers may. Raises NotFound."""
    call = await manager.open_channel(request.room) if request.room else manager.stand()
    entries = [await _describe(call, answer) for answer in await _list_answers(call, bool(request.room))]
    groups, _ = await find_unanswered(call, MAX_QUESTIONS, outside_of_channels=False, only_here=bool(request.room))
    questions = [OpenQuestion(group.texts[0], len(group.questions)) for group in groups]
    name = await call.store.channels.get_name(request.room) if request.room else ""
    return ExportLine(write_page(entries, questions, call.now, f"#{name}" if name else ""))


async def _list_answers(call: PersonAtPlace, for_all: bool) -> list[VerifiedAnswer]:  # noqa: FBT001  - of a channel
    """The verified answers that the person, or everyone at their place, certainly may read; one for each question."""
    place, found = call.location, dict[str, "VerifiedAnswer"]()
    audience, reader = call.services.context.audience, "" if for_all else call.person
    for id_, room, question in await call.store.verified_answers.list_questions(place.platform, place.workspace):
        if question.casefold() in found and room != place.room:
            continue
        answer = await call.store.verified_answers.get(id_)
        if answer is not None and await can_read(audience, provenance_of(answer), place, reader):
            found[question.casefold()] = answer
    return list(found.values())


async def _describe(call: PersonAtPlace, answer: VerifiedAnswer) -> Entry:
    platform = call.services.context.platform_for(answer.location)
    link = platform.message_link(answer.location, answer.message) if answer.message else ""
    return Entry(answer, await find_name(call, answer.verifier), link)
