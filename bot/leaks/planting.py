"""Plant texts in the copy as the bot would have read them, with what else may tell of a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.ingest.conversations import MessageRun, window_key
from bot.ingest.documents import ConversationDocuments
from bot.leaks.canaries import STRANGER
from bot.platform.models import Location, Message
from bot.store import AnswerResult, AnswerSource, ChannelSettings, Expert, FileRecord, StoredAnswer, UnreadFile
from bot.store.review.verified_answers import VerifiedAnswer
from engine import Document, Passage

if TYPE_CHECKING:
    from bot.bot import Bot
    from bot.leaks.canaries import Bait, Canary
    from bot.leaks.stand_in import StandInPlatform
    from bot.platform.models import Channel


async def plant_bait(bot: Bot, bait: Bait, spaces: list[str]) -> None:
    """Plant the text that everybody may read, in its channels and in spaces of the terminal."""
    text = f"{bait.name} met {bait.friend} in the boat house. {bait.name} keeps the code {bait.code}."
    for channel in bait.places:
        await open_channel(bot, channel)
        await _add_file(bot, channel, f"{channel.location.room}:file:{bait.code}", (f"{bait.code}.md", text))
        await say(bot, channel, f"leak-{channel.name}", text)
    for space in spaces:
        await _add(bot, (f"{space}:{bait.code}", space, f"{space}:files"), f"{bait.code}.md", text)
    await bot.context.engine_context.engine.wait_until_indexed()


async def plant_canary(bot: Bot, canary: Canary, bait: Bait) -> None:
    """Plant a canary: a message, a file, answers, an expert, a file not read, and a corrected description."""
    text = f"{bait.name} met {canary.name} in the boat house. {canary.name} keeps the code {canary.code}."
    if canary.channel is None:
        await _add(bot, (canary.key, canary.space, canary.room), canary.title, text)
    else:
        await open_channel(bot, canary.channel)
        await _add_file(bot, canary.channel, canary.key, (canary.title, text))
        await say(bot, canary.channel, f"leak-{canary.channel.name}", text)
        if not canary.is_adult:
            await _add_records(bot, canary, canary.channel, text)
            await _add_moved_answer(bot, canary, canary.channel, bait)
    engine = bot.context.engine_context.engine
    await engine.wait_until_indexed()
    if canary.channel is not None and not canary.is_adult:
        space = await bot.context.audience.get_home_space(canary.channel.location)
        await engine.corrections.describe(space, canary.name, f"Keeps the code {canary.code}.")
        await engine.wait_until_indexed()


async def open_channel(bot: Bot, channel: Channel) -> None:
    """Let the bot join a channel that the stand-in platform has from now on."""
    platform: StandInPlatform = bot.context.platforms[channel.location.platform]  # type: ignore[assignment]
    platform.channels[channel.location.room] = channel
    bot.context.audience.invalidate(channel.location)
    if channel.kind != "direct":
        await bot.store.channels.upsert(channel.location, channel.name)
        await bot.store.channels.record_announced(channel.location.room)


async def _add(bot: Bot, place: tuple[str, str, str], title: str, text: str) -> None:
    """Add a document. `place`: its key, space and room."""
    document = Document(*place, title, (Passage("1", text, author=STRANGER),), bot.clock.now())
    await bot.context.engine_context.engine.documents.add(document)


async def _add_file(bot: Bot, channel: Channel, key: str, content: tuple[str, str]) -> None:
    """Add a file of a channel, in the space that the bot finds for it. `content`: its title and text."""
    location = channel.location
    await bot.store.files.insert(FileRecord(key, location.room, "leak-file", key, STRANGER, bot.clock.now()))
    space = await bot.context.audience.get_home_space(location)
    await _add(bot, (key, space, location.room), *content)


async def say(bot: Bot, channel: Channel, id_: str, text: str, author: str = STRANGER) -> Message:
    """Add a message of a channel, and return it."""
    documents = ConversationDocuments(bot.context)
    message = Message(id_, channel.location, author, text, bot.clock.now())
    rendered = await documents.render_message(message)
    if rendered is not None:
        key = window_key(channel.location.room, message.id)
        await documents.add_run(MessageRun(key, "", rendered.title, (rendered,)), channel.location)
    return message


async def _add_records(bot: Bot, canary: Canary, channel: Channel, text: str) -> None:
    location, now, question = channel.location, bot.clock.now(), f"What does {canary.name} keep?"
    space = await bot.context.audience.get_home_space(location)
    source = AnswerSource(1, canary.title, "", text, canary.key, "1", space, location.room, now)
    asked = StoredAnswer(canary.answer, location, STRANGER, question, now, message_id=f"q-{canary.code}")
    used = frozenset({canary.key}), frozenset({space}), frozenset({location.room})
    await bot.store.answers.begin(asked)
    await bot.store.answers.finish(canary.answer, AnswerResult(f"{canary.code} [1]", (source,), *used))
    lost = StoredAnswer(f"lost-{canary.code}", location, STRANGER, f"Where is {canary.code}?", now)
    await bot.store.answers.begin(lost)
    await bot.store.answers.finish(lost.id, AnswerResult("I found nothing."))
    page = Location(location.platform, location.workspace, "")  # of answers of the page, which can be shared by a link
    shared = StoredAnswer(f"page-{canary.code}", page, STRANGER, question, now)
    await bot.store.answers.begin(shared)
    await bot.store.answers.finish(shared.id, AnswerResult(f"{canary.code} [1]", (source,), *used))
    await bot.store.feedback.record(shared.id, STRANGER, up=False)
    await bot.store.shared_answers.add(canary.link, shared.id, now)
    await bot.store.verified_answers.save(_verify(canary, location, source, bot))
    await bot.store.experts.add(Expert(location, STRANGER, canary.code))
    await bot.store.channel_settings.save(location.room, ChannelSettings(style=canary.code))
    await bot.store.unread_files.save(
        UnreadFile(
            f"{canary.key}-unread", space, location.room, "leak-unread", f"unread-{canary.code}", STRANGER, now,
            f"{canary.code}.bin", "", "It is locked.",
        )
    )  # fmt: skip


async def add_own_answer(bot: Bot, canary: Canary, place: Location, person: str) -> str:
    """Add a private answer to somebody, whose source they could read when it was given; returns its id."""
    id_, now = f"{canary.moved_answer}-{person}", bot.clock.now()
    source = AnswerSource(1, canary.title, "", canary.code, canary.key, "1", canary.room, canary.room, now)
    used = frozenset({canary.key}), frozenset({canary.room}), frozenset({canary.room})
    await bot.store.answers.begin(StoredAnswer(id_, place, person, "Which code?", now, private=True))
    await bot.store.answers.finish(id_, AnswerResult(f"{canary.code} [1]", (source,), *used))
    return id_


async def _add_moved_answer(bot: Bot, canary: Canary, channel: Channel, bait: Bait) -> None:
    """Add an answer of an open channel whose source everybody could read when it was given."""
    place = next((each.location for each in bait.places if each.location.workspace == channel.location.workspace), None)
    if place is None:
        return
    now, space = bot.clock.now(), await bot.context.audience.get_home_space(channel.location)
    source = AnswerSource(1, canary.title, "", canary.code, canary.key, "1", space, canary.room, now)
    asked = StoredAnswer(
        canary.moved_answer, place, STRANGER, "Which code?", now, message_id=f"q-{canary.moved_answer}"
    )
    used = frozenset({canary.key}), frozenset({space}), frozenset({canary.room})
    await bot.store.answers.begin(asked)
    await bot.store.answers.finish(canary.moved_answer, AnswerResult(f"{canary.code} [1]", (source,), *used))


def _verify(canary: Canary, location: Location, source: AnswerSource, bot: Bot) -> VerifiedAnswer:
    return VerifiedAnswer(
        f"verified-{canary.code}", location, "leak-verified", f"What does {canary.name} keep?", f"{canary.code} [1]",
        STRANGER, "", STRANGER, bot.clock.now(), "valid", (source,), frozenset({source.space}),
        frozenset({source.room}), frozenset({canary.key}),
    )  # fmt: skip
