"""Verify an answer: as it is, in other words, or in the words of a person's message."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from bot import texts
from bot.answers.footer import MAX_EXCERPT_LENGTH
from bot.answers.review.lookup import can_recognize
from bot.answers.review.rights import may_verify
from bot.errors import NotAllowed
from bot.i18n import gettext
from bot.ingest.conversations import author_key, to_unindexed_record
from bot.permissions.provenance import can_read, provenance_of_answer
from bot.store import AnswerSource, VerifiedAnswer
from bot.store.models import ANSWER_KINDS, VERIFIED_PREFIX, message_key, source_keys
from bot.text.excerpts import truncate_line
from bot.text.markdown import sanitize_inline
from bot.text.speech.mentions import strip_mention
from bot.texts import control as control_texts
from bot.texts import review as review_texts
from bot.texts.search_notices import is_closest
from engine.answers.links.stream import LinkFilter
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from bot.context import BotContext
    from bot.platform.models import Location, Message
    from bot.store import StoredAnswer

MAX_QUESTION_LENGTH, MAX_TEXT_LENGTH = 500, 4000  # characters of what people write
ID_LENGTH = 20


class AnswerVerifier:
    """Stores verified answers, for those who may verify. Each method returns the sentence for the person.

    `now`: when the person asked for it; what is changed or removed after that is noticed. The methods raise
    NotAllowed, InvalidQuestion, NotFound and PlatformError.
    """

    def __init__(self, context: BotContext, now: datetime) -> None:
        self._context = context
        self._store = context.store
        self._now = now

    async def verify(self, stored: StoredAnswer, person: str, text: str = "", question: str = "") -> str:
        """Verify an answer of the bot at its location; with a text or a question, in these words instead of its own."""
        seen, place = stored.attempt, stored.location
        stored = await self._store.answers.get(stored.id) or stored  # `_save` notices what is removed after `now`
        thread, stored = stored.location.thread, replace(stored, location=place)
        if stored.attempt != seen:
            raise NotFound(gettext(control_texts.REPLACED))
        await self.check(stored, person)
        if (before := await self.find_repeated(stored)) is not None:
            return await self._renew(before, person, text, question)
        found_nothing = is_closest(stored.text) or not (stored.sources or _used_keys(stored))
        if found_nothing and not text:
            raise InvalidQuestion(gettext(review_texts.FOUND_NOTHING), hint=gettext(review_texts.WRITE_ANSWER))
        based = provenance_of_answer(stored)
        is_follow_up = not question and thread not in {"", stored.message_id}
        question = await self._plain(stored.location, strip_mention(question or stored.question))
        own = {message_key(stored.location.room, stored.message_id)} if stored.message_id else set()
        verified = VerifiedAnswer(
            "",
            stored.location,
            stored.message_id or next(iter(stored.reply_message_ids), ""),
            question,
            clean_text(text, question) if text else stored.text,
            stored.asker,
            person if text else "",
            person,
            self._now,
            sources=() if found_nothing else stored.sources,
            spaces=based.source_scope.spaces,
            rooms=based.source_scope.rooms,
            keys=_used_keys(stored) | own,
        )
        return await self._save(verified, is_follow_up=is_follow_up)

    async def find_repeated(self, stored: StoredAnswer) -> VerifiedAnswer | None:
        """The verified answer that an answer repeats; None if it repeats none, or that one is gone."""
        ids = [key.removeprefix(VERIFIED_PREFIX) for key in stored.documents if key.startswith(VERIFIED_PREFIX)]
        return await self._store.verified_answers.get(ids[0]) if ids else None

    async def _renew(self, before: VerifiedAnswer, person: str, text: str, question: str) -> str:
        """Verify an answer again, perhaps in other words, in place of what it was in the channel of before."""
        asked = await self._plain(before.location, question) if question else before.question
        written, author = (clean_text(text, asked), person) if text else (before.text, before.author)
        renewed = replace(before, question=asked, text=written, author=author)
        confirmation = await self._save(replace(renewed, verifier=person, verified_at=self._now))
        if verified_id(before.location, " ".join(asked.split())) != before.id:
            await self._store.verified_answers.delete(before.id, before.location.room)
        return confirmation

    async def check(self, stored: StoredAnswer, person: str) -> None:
        """Raise NotAllowed, InvalidQuestion or NotFound if a person may not verify an answer now.

        What repeats a verified answer is verified again, or corrected, in the channel of that one.
        """
        repeated = await self.find_repeated(stored)
        stored = stored if repeated is None else replace(stored, location=repeated.location)
        await self._check_allowed(stored.location, person)
        if stored.private and stored.asker != person:
            raise NotFound(gettext(texts.NO_ANSWER))
        based = provenance_of_answer(stored)
        if stored.state != "done" or not await can_read(self._context.audience, based, stored.location, person):
            raise NotFound(gettext(texts.NO_ANSWER))

    async def take_reply(self, message: Message, person: str) -> str:
        """Verify the message of a person, fetched just now, as the answer to the question of its thread."""
        location = message.location
        await self._check_allowed(location, person)
        if message.own or message.by_bot:
            raise InvalidQuestion(gettext(review_texts.NOT_A_REPLY))
        await self._check_not_forgotten(message)
        asked, asker, question_message = await self._find_question(message)
        await self._record(message)
        question = await self._plain(location, strip_mention(asked))
        text = clean_text(await self._plain(location, message.text), question)
        source = await self._cite(message, text)
        used = source_keys(source.document, source.room, source.passage) if source.document else frozenset[str]()
        verified = VerifiedAnswer(
            "",
            location,
            message.id,
            question,
            f"{text} [1]" if text else "",
            asker,
            message.author,
            person,
            self._now,
            sources=(source,),
            keys=used
            | {message_key(location.room, message_id) for message_id in (message.id, question_message) if message_id},
        )
        return await self._save(verified, is_follow_up=location.thread not in {"", question_message})

    async def pin(self, location: Location, person: str, question: str, text: str) -> str:
        """Verify an answer in a person's own words to a question in their own words."""
        await self._check_allowed(location, person)
        asked = await self._plain(location, question)
        answer = clean_text(await self._plain(location, text), asked)
        verified = VerifiedAnswer("", location, "", asked, answer, person, person, person, self._now)
        return await self._save(verified)

    async def keep(self, verified: VerifiedAnswer) -> str:
        """Store what somebody verified whose right to do so was checked."""
        return await self._save(verified)

    async def _check_allowed(self, location: Location, person: str) -> None:
        if (await self._context.audience.get_channel(location)).kind == "direct":
            raise InvalidQuestion(gettext(review_texts.VERIFY_IN_CHANNEL))
        if not await may_verify(self._context, location, person):
            raise NotAllowed(gettext(review_texts.CANNOT_VERIFY))

    async def _check_not_forgotten(self, message: Message) -> None:
        location, store = message.location, self._store
        whose = (location.platform, location.workspace, message.author)
        out = await store.opt_outs.is_opted_out(*whose, message.time)
        if out or await store.messages.find_tombstones(location.room, [message.id]):
            raise InvalidQuestion(gettext(review_texts.REPLY_NOT_USABLE))

    async def _record(self, message: Message) -> None:
        """Record a message that is not indexed, so that an edit of it is noticed."""
        if await self._store.messages.get(message.location.room, message.id) is None:
            await self._store.messages.insert([to_unindexed_record(message)])

    async def _find_question(self, message: Message) -> tuple[str, str, str]:
        """The question that a message answers, its asker and its message: the last one to the bot, or what began it."""
        thread = message.reply_thread
        place = message.location.without_thread
        in_thread = replace(place, thread=thread)
        for answer in await self._store.answers.list_in_thread(in_thread, message.time, 1):
            return answer.question, answer.asker, answer.message_id
        for first in filter(None, (message.replies_to, thread)):
            if first == message.id:
                continue
            found = await self._context.platform_for(place).fetch_message(in_thread, first)
            if found is not None and not found.by_bot and not found.own:
                await self._check_not_forgotten(found)
                await self._record(found)
                return found.text, found.author, found.id
        raise InvalidQuestion(gettext(review_texts.NO_QUESTION_FOR_REPLY))

    async def _cite(self, message: Message, text: str) -> AnswerSource:
        """The message of a person as a source."""
        location, context = message.location, self._context
        channel = await context.audience.get_channel(location)
        author = await context.audience.get_person_at(location, message.author)
        known = await self._store.messages.get(location.room, message.id)
        return AnswerSource(
            1,
            sanitize_inline(f"#{channel.name.lstrip('#')} · {author.name}"),
            context.platform_for(location).message_link(location, message.id),
            sanitize_inline(truncate_line(text, MAX_EXCERPT_LENGTH)),
            known.document if known else "",
            message.id,
            await context.audience.get_home_space(location),
            location.room,
            message.time,
        )

    async def _plain(self, location: Location, text: str) -> str:
        return (await self._context.platform_for(location).to_plain_text(location.workspace, text)).strip()

    async def _save(self, verified: VerifiedAnswer, *, is_follow_up: bool = False) -> str:
        """Store an answer that was read after its time, unless a source was changed or removed since then."""
        question, room = " ".join(verified.question.split()), verified.location.room
        verified = replace(
            verified,
            id=verified_id(verified.location, question),
            question=question,
            text=verified.text.strip(),
            rooms=verified.rooms | {room},
            keys=verified.keys | _people_keys(verified),
        )
        is_clear = can_recognize(question, verified.verified_at, is_follow_up=is_follow_up)
        if not is_clear or len(question) > MAX_QUESTION_LENGTH:
            raise InvalidQuestion(gettext(review_texts.UNCLEAR_QUESTION))
        if not verified.text or len(verified.text) > MAX_TEXT_LENGTH:
            raise InvalidQuestion(gettext(review_texts.UNUSABLE_ANSWER).format(length=MAX_TEXT_LENGTH))
        if not await self._store.verified_answers.save(verified):
            raise NotFound(gettext(texts.NO_ANSWER))
        return review_texts.format_verification(verified.question)


def _people_keys(verified: VerifiedAnswer) -> frozenset[str]:
    """The keys of those whose words it repeats: when they are forgotten, so are the answers that showed it."""
    place = verified.location
    return frozenset(
        author_key(place.platform, place.workspace, person) for person in (verified.asker, verified.author) if person
    )


def source_keys_of(stored: StoredAnswer) -> frozenset[str]:
    """The keys of everything that a stored answer used."""
    used = stored.documents.union(
        *(source_keys(source.document, source.room, source.passage) for source in stored.sources)
    )
    return used - {"", *ANSWER_KINDS}  # the document of a message that is not indexed has none


def _used_keys(stored: StoredAnswer) -> frozenset[str]:
    """The keys of the sources of an answer, without that of a verified answer, which is none."""
    return frozenset(key for key in source_keys_of(stored) if not key.startswith(VERIFIED_PREFIX))


def verified_id(location: Location, question: str) -> str:
    """The id of the verified answer to a question in a channel; a later one replaces it."""
    return sha256(f"verified\0{location.room}\0{question.casefold()}".encode()).hexdigest()[:ID_LENGTH]


def clean_text(text: str, question: str) -> str:
    """What a person wrote, with their links as they are, and without mentions that notify."""
    links = LinkFilter.from_texts((text,), question)
    return (links.feed(text) + links.close()).strip()
