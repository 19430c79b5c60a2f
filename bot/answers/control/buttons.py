"""Handle the buttons of an answer: those below it, and those of the card that offers what a person may do with it.

Buttons below answers that an earlier version posted are among them.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from bot import texts
from bot.answers import footer
from bot.answers.control.sources import describe_sources
from bot.answers.control.stops import StopRequests
from bot.answers.footer import link_citations, source_urls
from bot.answers.question import shared_answer_id
from bot.answers.renewal.renewer import result_of
from bot.answers.review.improvements import IMPROVE_ACTION, ONCE, Improvements, build_improve_button
from bot.answers.review.rights import ExpertRequests, check_room, is_manager
from bot.answers.review.verification import AnswerVerifier
from bot.answers.review.votes import record_vote
from bot.answers.service import DOOR, describe_sharing, find_place
from bot.audit import Change, recording
from bot.errors import NotAllowed, PermissionDenied
from bot.i18n import gettext, use_language
from bot.permissions.provenance import can_read, provenance_of_answer
from bot.platform.models import Card
from bot.platform.ports import ReplyTarget
from bot.store import Subject
from bot.store.access.audit_log import AuditEvent
from bot.text import splitting
from bot.text.speech.mentions import strip_mention
from bot.texts import control as control_texts
from bot.texts import review as review_texts
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from bot.context import BotContext
    from bot.monitoring.metrics import Metrics
    from bot.platform.events import ButtonPressed
    from bot.platform.models import AnswerFooter, Location
    from bot.platform.ports import Reply
    from bot.store import StoredAnswer

    ButtonAction = Callable[["AnswerButtons", ButtonPressed, StoredAnswer], Awaitable[str | Card]]


class AnswerButtons:
    """Handles the buttons of answers. Every action may run again with the same result."""

    def __init__(self, context: BotContext, metrics: Metrics) -> None:
        self.context = context
        self._metrics = metrics
        self._stops = StopRequests(context)
        self._expert_requests = ExpertRequests(context)
        self._improvements = Improvements(context)

    def is_answer_button(self, clicked: ButtonPressed) -> bool:
        """Whether a button belongs to an answer."""
        return clicked.action in BUTTON_ACTIONS

    async def handle(self, clicked: ButtonPressed) -> None:
        """Run the action and report to the person. Raises PlatformError."""
        try:
            stored = await self.context.store.answers.get(clicked.value.partition(":")[0])
            if stored is None or not _is_same_workspace(clicked.location, stored.location):
                raise NotFound(gettext(texts.NO_ANSWER))  # noqa: TRY301 - shown below like every other
            notice: str | Card = await BUTTON_ACTIONS[clicked.action](self, clicked, stored)
        except (NotFound, NotAllowed, InvalidQuestion) as error:
            notice = gettext(str(error))
        except PermissionDenied as error:
            notice = await self.context.describe_error(error, clicked.location)
        if notice:
            target = ReplyTarget.of_presser(clicked, clicked.value)
            await self.context.send_private(target, notice if isinstance(notice, Card) else Card(notice))

    async def record_feedback(self, clicked: ButtonPressed, stored: StoredAnswer) -> str:
        """Record feedback; the same vote of the same person counts once. A form for the reason says that it did."""
        _check_attempt(clicked, stored)
        await self._check_reads(clicked, stored)
        await record_vote(self.context.store, self._metrics, stored, clicked.person, up=clicked.action == "up")
        if clicked.opens_form:
            return ""
        if clicked.action == "up":
            return gettext(texts.POSITIVE_FEEDBACK)
        is_seen = bool(stored.location.thread) and not stored.private
        if is_seen and (await self.context.audience.get_channel(stored.location)).kind != "direct":
            return gettext(texts.NEGATIVE_FEEDBACK)
        return gettext(texts.PRIVATE_NEGATIVE_FEEDBACK)

    async def _check_reads(self, clicked: ButtonPressed, stored: StoredAnswer) -> None:
        """Raise NotFound for a person to whom an answer was not shown; what they sent is forged."""
        if clicked.person == stored.asker:
            return
        room, location = stored.location.room, clicked.location
        if stored.private or await check_room(self.context, room, location, clicked.person) is False:
            raise NotFound(gettext(texts.NO_ANSWER))

    async def list_sources(self, clicked: ButtonPressed, stored: StoredAnswer) -> str:
        """Show the sources of an answer that the person can read now, as the command does."""
        if stored.state != "done" and not stored.sources:
            raise NotFound(gettext(texts.NO_ANSWER))
        await self._check_reads(clicked, stored)
        return await describe_sources(self.context, stored, clicked.location, clicked.person) or gettext(
            texts.NO_SOURCES
        )

    async def offer_improvements(self, clicked: ButtonPressed, stored: StoredAnswer) -> Card:
        """Show what the person may do with an answer."""
        attempt, _, repeats = clicked.value.partition(":")[2].partition(":")
        _check_attempt(replace(clicked, value=f"{stored.id}:{attempt}"), stored)
        await self._check_reads(clicked, stored)
        return await self._improvements.offer(stored, clicked.person, can_repeat=repeats != ONCE)

    async def verify_answer(self, clicked: ButtonPressed, stored: StoredAnswer) -> str:
        """Verify an answer, for managers and experts of its channel."""
        _check_attempt(clicked, stored)
        async with self._recording("verify-answer", clicked, stored):
            return await self._open_verifier().verify(stored, clicked.person)

    async def correct_answer(self, clicked: ButtonPressed, stored: StoredAnswer) -> str:
        """Name the command that corrects an answer, because its form could not be opened."""
        await self._open_verifier().check(stored, clicked.person)
        command = self.context.traits_of(stored.location.platform).format_command("correct answer LINK TEXT")
        return gettext(review_texts.CORRECT_BY_COMMAND).format(command=f"`{command}`")

    def _open_verifier(self) -> AnswerVerifier:
        return AnswerVerifier(self.context, self.context.clock.now())

    @asynccontextmanager
    async def _recording(self, action: str, clicked: ButtonPressed, stored: StoredAnswer) -> AsyncIterator[None]:
        """Write to the audit log what somebody does with an answer."""
        location = clicked.location
        actor = Subject(location.platform, location.workspace, clicked.person)
        by = AuditEvent("", "", actor, DOOR, await find_place(self.context, stored.location))
        async with recording(self.context.store.audit, by, Change(action, details={"answer": stored.id})):
            yield

    async def offer_experts(self, clicked: ButtonPressed, stored: StoredAnswer) -> Card:
        """Ask the expert of a question's topic, or show who can be asked."""
        return await self._expert_requests.offer(stored, clicked.person)

    async def ask_expert(self, clicked: ButtonPressed, stored: StoredAnswer) -> str:
        """Ask the expert that a person chose."""
        return await self._expert_requests.ask(stored, clicked.value.partition(":")[2], clicked.person)

    async def stop_answer(self, clicked: ButtonPressed, stored: StoredAnswer) -> str:
        """Stop an answer in progress, for its asker or a manager; the answer itself shows who did."""
        if clicked.person != stored.asker and not await self._is_manager(clicked):
            raise NotAllowed(gettext(control_texts.NOT_THE_ASKER_OR_MANAGER))
        stopped = await self._stops.stop(stored.id, clicked.person)
        return "" if stopped or stored.stopped_by else gettext(control_texts.NOT_STOPPED)

    async def delete_answer(self, clicked: ButtonPressed, stored: StoredAnswer) -> str:
        """Delete an answer from the chat and the store, for its asker or a manager."""
        if clicked.person != stored.asker and not await self._is_manager(clicked):
            raise NotAllowed(gettext(texts.NOT_THE_ASKER))
        if stored.private:
            raise NotFound(gettext(texts.NO_ANSWER))  # only the asker saw it, and it cannot be deleted
        async with self._recording("delete-answer", clicked, stored):
            await self.context.platform_for(stored.location).delete_answer(_public_target(stored, stored.reply_ref))
            await self.context.store.answers.delete(stored.id)
        return ""

    async def share_answer(self, clicked: ButtonPressed, stored: StoredAnswer) -> str:
        """Post a private answer in the channel, if everyone there could read all of its sources."""
        if clicked.person != stored.asker:
            raise NotAllowed(gettext(texts.NOT_THE_ASKER))
        if stored.state != "done":
            raise NotFound(gettext(texts.NO_ANSWER))
        id_ = shared_answer_id(stored.id)
        before = await self.context.store.answers.get(id_)
        if before is not None and before.state != "started":
            return gettext(texts.ANSWER_SHARED)
        if before is None and not await self._can_channel_read(stored):
            return gettext(texts.ANSWER_NOT_SHARED)
        shared = replace(stored, id=id_, message_id="", private=False, state="started")
        reply = self.context.platform_for(stored.location).start_reply(
            _public_target(shared, before.reply_ref if before else "")
        )
        language = await self.context.find_channel_language(stored.location, clicked.person, clicked.locale)
        try:
            with use_language(language):
                is_shared = await self._publish(stored, shared, reply)
        except PermissionDenied:
            await self.context.store.answers.delete_unfinished(id_)
            raise
        return gettext(texts.ANSWER_SHARED) if is_shared else gettext(texts.ANSWER_NOT_SHARED)

    async def _publish(self, stored: StoredAnswer, shared: StoredAnswer, reply: Reply) -> bool:
        """Post the answer again in the channel, as an answer of its own; an earlier run may have started it.

        False if not everyone in the channel may read it any more.
        """
        answers, platform = self.context.store.answers, self.context.platform_for(stored.location)
        below = await self._build_footer(shared)
        await answers.begin(shared)
        if not await self._can_channel_read(stored):  # the audience may have changed in the meantime
            await self._unpublish(reply, shared)
            return False
        try:
            linked = link_citations(stored.text, source_urls(stored.sources))
            text = f"{await self._quote_question(stored)}\n\n{linked}"
            await reply.finish(splitting.split_message(text, platform.limits.max_length), below)
        finally:
            await answers.save_reply_ref(shared.id, reply.reply_ref)
        if not await answers.finish(
            shared.id, result_of(stored), await describe_sharing(self.context, stored, shared.id)
        ):
            await reply.replace(gettext(texts.SOURCE_REMOVED))
        return True

    async def _quote_question(self, stored: StoredAnswer) -> str:
        """The question, quoted for readers who did not see it."""
        location = stored.location
        asker = await self.context.audience.get_person_at(location, stored.asker)
        text = await self.context.platform_for(location).to_plain_text(
            location.workspace, strip_mention(stored.question)
        )
        return texts.format_asker(asker.name, text)

    async def _unpublish(self, reply: Reply, shared: StoredAnswer) -> None:
        """Remove what was already posted of a shared answer."""
        if reply.reply_ref:
            await reply.replace(gettext(texts.ANSWER_WITHDRAWN))
        await self.context.store.answers.delete(shared.id)

    async def _build_footer(self, shared: StoredAnswer) -> AnswerFooter:
        location = shared.location
        asker = await self.context.audience.get_person_at(location, shared.asker)
        channel = await self.context.audience.get_channel(location)
        improve = build_improve_button(shared.id, can_repeat=False)
        notes = [texts.format_sharer(asker.name), texts.describe_sources(channel.name)]
        return footer.build_answer_footer(
            shared.id, shared.sources, notes, private=False, share=False, further=[improve]
        )

    async def _can_channel_read(self, stored: StoredAnswer) -> bool:
        """Whether everyone in the channel may certainly read all sources of an answer."""
        return bool(await can_read(self.context.audience, provenance_of_answer(stored), stored.location))

    async def _is_manager(self, clicked: ButtonPressed) -> bool:
        return await is_manager(self.context, clicked.location, clicked.person)


BUTTON_ACTIONS: Mapping[str, ButtonAction] = {
    "stop": AnswerButtons.stop_answer,
    "up": AnswerButtons.record_feedback,
    "down": AnswerButtons.record_feedback,
    "sources": AnswerButtons.list_sources,
    "delete": AnswerButtons.delete_answer,
    "share": AnswerButtons.share_answer,
    IMPROVE_ACTION: AnswerButtons.offer_improvements,
    "verify": AnswerButtons.verify_answer,
    "correct-answer": AnswerButtons.correct_answer,
    "expert": AnswerButtons.offer_experts,
    "ask-expert": AnswerButtons.ask_expert,
}


def _check_attempt(clicked: ButtonPressed, stored: StoredAnswer) -> None:
    """Raise NotFound for the button of an earlier answer to the question, which only its reader still sees."""
    if (clicked.value.partition(":")[2] or "0") != str(stored.attempt):
        raise NotFound(gettext(control_texts.REPLACED))


def _is_same_workspace(one: Location, other: Location) -> bool:
    return (one.platform, one.workspace) == (other.platform, other.workspace)


def _public_target(stored: StoredAnswer, reply_ref: str) -> ReplyTarget:
    """Where the shared copy of an answer is posted."""
    return ReplyTarget(
        stored.id, stored.location, stored.asker, stored.message_id, reply_ref=reply_ref, asked_at=stored.time
    )
