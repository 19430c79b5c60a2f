"""A question with the place of its answer, and the engine question that it becomes: mentions, settings, scope.

An overview question is limited to the messages it is about: a thread, a channel, or everything the asker may read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, cast

from bot import texts
from bot.errors import PlatformError
from bot.ingest.conversations import thread_key
from bot.permissions import resolver
from bot.platform.events import ButtonPressed, QuestionAsked
from bot.platform.ports import ReplyTarget
from bot.store import StoredAnswer
from bot.text.search_filters import FILTERED_OVERVIEW, SearchFilters, asked_at, narrow_question, parse_search_filters
from bot.text.speech.mentions import strip_mention
from bot.texts import search_notices
from engine import Filters, Question
from engine.answers.links.addresses import find_mentions
from engine.models import FilterLookup, Overview
from engine.text.overviews import apply_overview_request, by_author, channel_of

if TYPE_CHECKING:
    from datetime import datetime

    from bot.context import BotContext
    from bot.permissions.audience import ResolvedScope
    from bot.platform.events import CommandInvoked, FormSubmitted
    from bot.platform.models import Channel, Location, Message, Upload
    from engine import OverviewKind, RetrievalMode, Scope
    from engine.text.overviews import OverviewRequest


REFERENCE_LENGTH = 8  # characters of an answer's id that are shown to people
NO_FILTERS = SearchFilters("")
DEFAULT_PERIOD = timedelta(days=1)  # for a person without earlier messages


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A question, and where its answer goes: `location` includes the thread, if there is one.

    `id` is that of the answer, always the same for the same question. `since`: only messages of this channel since
    then are searched, for a personal digest those of all channels. `overheard`: a message that does not mention the
    bot; without sources or after a failure, the bot stays silent. `attempt`: how often the question was asked again.
    `question_keys`: of what the text itself rests on, if somebody else's words may be in it.
    """

    id: str
    location: Location
    person: str
    text: str
    time: datetime
    message: str = ""
    private: bool = False
    mode: str = ""
    handle: str = ""
    origin: Message | QuestionAsked | None = None
    since: datetime | None = None
    overheard: bool = False
    digest: Literal["", "channel", "personal"] = ""
    attempt: int = 0
    question_keys: frozenset[str] = frozenset()

    @property
    def uploads(self) -> tuple[Upload, ...]:
        """The files attached to the question."""
        return self.origin.uploads if self.origin else ()

    @property
    def locale(self) -> str:
        """The locale of the asker's client, if the platform reported it with the question."""
        return self.origin.locale if isinstance(self.origin, QuestionAsked) else ""

    @property
    def can_repeat(self) -> bool:
        """Whether another answer needs nothing of the question but what is stored of it."""
        is_stored = not (self.mode or self.since or self.digest) and bool(self.message or not self.uploads)
        return is_stored and bool(strip_mention(self.text))

    @property
    def sole_reader(self) -> str:
        """The only person who reads the answer; empty if everyone in its location does."""
        return self.person if self.private else ""

    @property
    def reference(self) -> str:
        """The short id that is shown to people and written to the log."""
        return self.id[:REFERENCE_LENGTH]

    def reply_target(self, reply_ref: str = "") -> ReplyTarget:
        """Where the answer is posted."""
        return ReplyTarget(
            answer=self.id,
            location=self.location,
            person=self.person,
            message=self.message,
            private=self.private,
            handle=self.handle,
            reply_ref=reply_ref,
            asked_at=self.time,
        )

    def to_stored_answer(self) -> StoredAnswer:
        """The row that is stored before the question is answered."""
        return StoredAnswer(
            self.id,
            self.location,
            self.person,
            self.text,
            self.time,
            message_id=self.message,
            private=self.private,
        )


def request_from_message(message: Message, *, overheard: bool = False) -> AnswerRequest:
    """The request of a message. Direct messages outside of workspaces have no threads."""
    location = (
        replace(message.location, thread=message.reply_thread) if message.location.workspace else message.location
    )
    return AnswerRequest(
        answer_id(message.location, message.id),
        location,
        message.author,
        message.posted,
        message.time,
        message=message.id,
        origin=message,
        overheard=overheard,
    )


def request_from_command(asked: QuestionAsked) -> AnswerRequest:
    """What is to be answered of a question that was asked by `/ask` or a form."""
    return AnswerRequest(
        answer_id(asked.location, asked.id),
        asked.location,
        asked.person,
        asked.text,
        asked.time,
        private=asked.private,
        mode=asked.mode,
        handle=asked.handle,
        origin=asked,
    )


def answer_id(location: Location, message: str) -> str:
    """The id of the answer to a message or a command."""
    return sha256(f"{location.room}\0{message}".encode()).hexdigest()[:20]


def shared_answer_id(answer: str) -> str:
    """The id of the public copy of a private answer."""
    return sha256(f"shared\0{answer}".encode()).hexdigest()[: len(answer)]


def started_answer_id(given: CommandInvoked | ButtonPressed | FormSubmitted) -> str:
    """The id of the answer that a command, a button or a form starts."""
    return shared_answer_id(given.value) if isinstance(given, ButtonPressed) else answer_id(given.location, given.id)


async def build_question(context: BotContext, request: AnswerRequest, reach: ResolvedScope | None = None) -> Question:
    """Build the engine question without history, with the channel's settings and the resolved scope."""
    chosen = await context.get_channel_settings(request.location.room)
    reach = reach or await resolve_request_scope(context, request)
    zone = await context.find_zone(request.location, request.person)
    sought = parse_search_filters(strip_mention(request.text), request.time.astimezone(zone))
    if sought.is_active:
        request = replace(request, text=sought.text or FILTERED_OVERVIEW)
    question = Question(
        await _plain_question(context, request),
        reach.scope,
        mode=cast("RetrievalMode", request.mode or chosen.mode or context.settings.retrieval_mode),
        instructions=f"Answer in {chosen.language}." if chosen.language else "",
        style=chosen.style,
        model=chosen.model if chosen.model in context.settings.selectable_models else "",
        asker=await _asker_name(context, request),
        is_unaddressed=request.overheard,
        zone=zone,
    )
    if request.since:
        return _limit_to_recent(question, request)
    if not sought.only_these:
        question = await apply_overview(context, request, question, sought)
        question = replace(question, filter_lookup=_build_filter_lookup(context, request))
    return await _apply_search_filters(context, request.location, question, sought) if sought.is_active else question


async def resolve_request_scope(context: BotContext, request: AnswerRequest) -> ResolvedScope:
    """The scope of the answer; waits briefly for suspended spaces."""
    return await context.audience.resolve_scope(
        request.location, request.sole_reader, wait=resolver.QUESTION_SUSPENSION_WAIT
    )


async def _asker_name(context: BotContext, request: AnswerRequest) -> str:
    """The display name of the asker, empty if it cannot be looked up."""
    mention = f"<@{request.person}>"
    try:
        name = await context.platform_for(request.location).to_plain_text(request.location.workspace, mention)
    except PlatformError:
        return ""
    return "" if name == mention else name.strip().removeprefix("@")


async def _plain_question(context: BotContext, request: AnswerRequest) -> str:
    """The question with names in place of ids."""
    text = strip_mention(request.text)
    try:
        return (await context.platform_for(request.location).to_plain_text(request.location.workspace, text)).strip()
    except PlatformError:
        return text


async def build_heading(context: BotContext, request: AnswerRequest, channel: Channel | None) -> str:
    """The quoted question above a public answer to a command; empty for any other answer."""
    others = not request.private and (channel is None or channel.kind != "direct")
    text = await _plain_question(context, request) if others and isinstance(request.origin, QuestionAsked) else ""
    if not text:
        return ""
    location = request.location
    try:
        asker = await context.audience.get_person_at(location, request.person)
    except PlatformError:
        return ""
    return texts.format_asker(asker.name, text)


def _limit_to_recent(question: Question, request: AnswerRequest) -> Question:
    """Limit a question to the messages of its channel since a time; a personal digest to those of all channels."""
    rooms = frozenset() if request.digest == "personal" else frozenset({request.location.room})
    kind: OverviewKind = "digest" if request.digest else "summary"
    return replace(question, filters=Filters(rooms=rooms, since=request.since), overview=Overview(kind))


async def apply_overview(
    context: BotContext, request: AnswerRequest, question: Question, sought: SearchFilters = NO_FILTERS
) -> Question:
    """Add the filter and author of an overview to a question; other questions are unchanged.

    What its filters name (`sought`) replaces where and since when it would look by itself.
    """
    if question.mode == "bypass":
        return question
    question, asked = by_author(question, asked_at(sought, request.time.astimezone(question.zone)))
    if asked is None:
        location = _mentioned_channel(request) if channel_of(question) else None
        return replace(question, filters=replace(question.filters, rooms=location.rooms)) if location else question
    if asked.channel:
        within = _mentioned_channel(request)
    else:
        is_elsewhere = bool(sought.channel_ids or sought.channel_names) and not asked.place
        within = Filters() if is_elsewhere else await _overview_filter(context, request, asked)
    if within is None:
        return question
    if asked.is_catch_up and not asked.time_span.is_bounded and within.rooms and not sought.since:
        within = replace(within, since=await _last_message_time(context, request))
    return apply_overview_request(replace(question, filters=within), asked)


async def _apply_search_filters(
    context: BotContext, location: Location, question: Question, sought: SearchFilters
) -> Question:
    """Narrow a question by the filters in it. A channel that is not known contains nothing."""
    rooms = await _find_rooms(context, location, sought)
    people = [await _person_name(context, location, person_id) for person_id in sought.person_ids]
    return narrow_question(question, sought, rooms, people)


async def describe_nothing_found(context: BotContext, request: AnswerRequest, scope: Scope, gap: str) -> str:
    """The answer to a question for which nothing was found; it tells of channels in which nothing can be read."""
    sought = parse_search_filters(strip_mention(request.text), request.time)
    if gap or not (sought.channel_ids or sought.channel_names):
        return texts.nothing_found(gap)
    rooms = await _find_rooms(context, request.location, sought)
    if rooms & (await context.engine_context.engine.documents.count_by_room(scope)).keys():
        return texts.nothing_found()
    return search_notices.describe_empty_channels(sought.channel_names)


async def _find_rooms(context: BotContext, location: Location, sought: SearchFilters) -> frozenset[str]:
    """The rooms of the channels that filters name."""
    names, ids = sought.channel_names, sought.channel_ids
    if not (names or ids):
        return frozenset()
    place, store = (location.platform, location.workspace), context.store
    found = await store.channels.find_rooms(*place, names=names, ids=ids)
    return frozenset([*found, *await store.imported_spaces.find_rooms(*place, names)])


def _build_filter_lookup(context: BotContext, request: AnswerRequest) -> FilterLookup | None:
    """What the model needs to propose filters; None without a model."""
    if not context.settings.llm_model:
        return None
    return FilterLookup(partial(_find_named_rooms, context, request.location))


async def _find_named_rooms(context: BotContext, location: Location, name: str) -> frozenset[str]:
    """The rooms of the channels with a name in which blanks may stand for hyphens."""
    names = {name, name.replace(" ", "-"), name.replace(" ", "_")}
    channels, imported = context.store.channels, context.store.imported_spaces
    found = await channels.find_rooms(location.platform, location.workspace, names=names, ids=())
    return frozenset([*found, *await imported.find_rooms(location.platform, location.workspace, names)])


async def _person_name(context: BotContext, location: Location, person: str) -> str:
    """The name of a person; their id if it cannot be looked up."""
    try:
        return (await context.audience.get_person_at(location, person)).name
    except PlatformError:
        return person


def _mentioned_channel(request: AnswerRequest) -> Filters | None:
    """The one channel that a question mentions; None for none, several, or an unknown one."""
    ids = [mention[1:] for mention in find_mentions(strip_mention(request.text)) if mention.startswith("#")]
    if len(ids) != 1:
        return None
    return Filters(rooms=frozenset({replace(request.location, channel=ids[0], thread="").room}))


async def _overview_filter(context: BotContext, request: AnswerRequest, asked: OverviewRequest) -> Filters:
    """Filter by the mentioned channel or the current one; decisions and open questions are searched everywhere."""
    location = request.location
    in_thread = bool(location.thread) and location.thread != request.message
    summary = asked.overview.kind == "summary"
    if in_thread and (asked.place == "thread" or (summary and not asked.place and not asked.time_span.is_bounded)):
        return Filters(documents=frozenset({thread_key(location.room, location.thread)}))
    here = asked.place in {"channel", "thread"} or (summary and asked.place != "everywhere")
    return Filters(rooms=frozenset({location.room})) if here and await _is_channel(context, request) else Filters()


async def _is_channel(context: BotContext, request: AnswerRequest) -> bool:
    try:
        return (await context.audience.get_channel(request.location)).kind != "direct"
    except PlatformError:
        return True


async def _last_message_time(context: BotContext, request: AnswerRequest) -> datetime:
    """The time of the asker's previous message in the channel."""
    last = await context.store.messages.get_last_time(request.location.room, request.person, before=request.time)
    return last or request.time - DEFAULT_PERIOD


async def find_channel(context: BotContext, request: AnswerRequest) -> Channel | None:
    """The channel of a question; None if the platform cannot be asked now."""
    try:
        return await context.audience.get_channel(request.location)
    except PlatformError:
        return None


async def find_language(context: BotContext, request: AnswerRequest, *, private: bool = False) -> str:
    """The language around an answer: that of its readers. `private`: of a message to the asker alone."""
    private = private or request.private or request.digest == "personal"
    find = context.find_person_language if private else context.find_channel_language
    return await find(request.location, request.person, request.locale)
