from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.discord.replies.channel_messages import split_card
from adapters.discord.replies.render import MAX_MESSAGE_LENGTH
from bot.errors import PermissionDenied, PlatformError
from bot.platform.events import MessageReceived
from bot.platform.models import Button, Card, Location, Message, Picture
from bot.platform.ports import ReplyTarget
from engine.errors import DocumentTooLarge, InvalidDocument
from tests.adapters.discord.conftest import Town
from tests.adapters.discord.recording_bot import until
from tests.support.discord_server import File, Permission

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


async def history(town: Town, place: Location, since: datetime = LONG_AGO, before: str = "") -> list[Message]:
    return [message async for page in town.platform.history(place, since, before) for message in page]


async def audience(town: Town, place: Location) -> tuple[str, str]:
    """The kind of a channel, and the initials of those of owner, Ada and Bob who are members."""
    channel = await town.platform.fetch_channel(place)
    people = {"o": town.guild.owner.id, "a": town.ada.id, "b": town.bob.id}
    return channel.kind, "".join(initial for initial, person in people.items() if person in channel.members)


async def test_who_reads_a_channel_follows_its_permissions(town: Town) -> None:
    square = town.location(town.square)
    assert await audience(town, square) == ("open", "")
    assert await audience(town, town.location(town.cellar)) == ("closed", "oa")
    town.fake.overwrites(town.square, town.bob, deny=Permission.READ_MESSAGE_HISTORY)
    await until(lambda: town.bot.events)
    assert await audience(town, square) == ("closed", "oa")
    assert not (await town.platform.fetch_channel(square)).adult
    town.fake.restricts_age(town.square)
    await until(lambda: len(town.bot.events) > 1)
    channel = await town.platform.fetch_channel(square)
    assert (channel.adult, channel.name) == (True, "square")


async def test_the_text_of_a_voice_channel_is_for_those_who_may_connect(town: Town) -> None:
    voice = town.fake.channel(town.guild, "bridge", "voice")
    await until(lambda: town.platform.client.get_channel(int(voice.id)))
    assert await audience(town, town.location(voice)) == ("open", "")
    town.fake.overwrites(voice, town.bob, deny=Permission.CONNECT)
    await until(lambda: town.bot.events)
    assert await audience(town, town.location(voice)) == ("closed", "oa")


async def test_a_public_thread_has_the_readers_of_its_channel_and_a_private_one_its_members(town: Town) -> None:
    public = await town.ada.opens_thread(await town.ada.says(town.square, "about the roof"), "Roof")
    private = await town.ada.opens_thread(town.square, "Secrets", private=True)
    await town.ada.adds(private, town.fake.bot(town.guild))
    await town.ada.says(private, "psst")
    await town.bot.wait_for(MessageReceived, 2)
    assert await audience(town, town.location(town.square, public.id)) == ("open", "")
    assert await audience(town, town.location(private, private.id)) == ("closed", "oa")
    town.fake.overwrites(town.square, town.ada, deny=Permission.VIEW_CHANNEL)
    await until(lambda: len(town.bot.events) > 2)
    assert await audience(town, town.location(private, private.id)) == ("closed", "o")


async def test_a_direct_conversation_is_with_one_person_and_an_unknown_channel_an_error(town: Town) -> None:
    await town.bob.dms("psst")
    place = (await town.bot.wait_for(MessageReceived)).message.location
    channel = await town.platform.fetch_channel(place)
    assert (channel.kind, channel.members) == ("direct", frozenset({town.bob.id}))
    with pytest.raises(PlatformError):
        await town.platform.fetch_channel(replace(town.location(), channel="123"))


async def test_the_audience_is_unknown_once_the_connection_is_lost_for_a_minute(town: Town) -> None:
    town.platform.record_disconnect()
    town.fake.clock.advance(59)
    assert await audience(town, town.location(town.square)) == ("open", "")
    town.fake.clock.advance(2)
    with pytest.raises(PlatformError):
        await town.platform.fetch_channel(town.location(town.square))
    with pytest.raises(PlatformError):
        await town.platform.fetch_person(town.guild.id, town.ada.id)


async def test_people_are_members_managers_or_guests(town: Town) -> None:
    town.fake.gives(town.ada, town.fake.role(town.guild, "crew", Permission.MANAGE_GUILD))
    await until(lambda: town.bot.events)
    ids = (town.ada.id, town.bob.id, town.fake.user("Eve").id)
    people = [await town.platform.fetch_person(town.guild.id, id_) for id_ in ids]
    expected = [("Ada", True, False), ("Bob", False, False), ("Eve", False, True)]
    assert [(person.name, person.is_manager, person.is_guest) for person in people] == expected
    assert [person.is_deactivated for person in people] == [False, False, True]


async def test_members_have_roles_and_strangers_none(town: Town) -> None:
    crew, guild = town.fake.role(town.guild, "crew"), town.platform.client.get_guild(int(town.guild.id))
    town.fake.gives(town.ada, crew)
    await until(lambda: guild and (role := guild.get_role(int(crew.id))) and role.members)
    people = (town.ada.id, town.bob.id, town.fake.user("Eve").id)
    assert [await town.platform.is_in_group(town.guild.id, person, crew.id) for person in people] == [
        True,
        False,
        False,
    ]
    with pytest.raises(PermissionDenied):
        await town.platform.is_in_group(town.guild.id, town.ada.id, "1")


async def test_markup_becomes_words_and_hidden_channels_stay_unnamed(town: Town) -> None:
    crew = town.fake.role(town.guild, "crew")
    guild = town.platform.client.get_guild(int(town.guild.id))
    await until(lambda: guild and guild.get_role(int(crew.id)))
    text = (
        f"<@{town.ada.id}> and <@!{town.bob.id}> of <@&{crew.id}> in <#{town.square.id}> or <#{town.cellar.id}>"
        " <:drop:123> <t:1700000000:R> </ask:5> <https://a.example/x> ||the butler||\n-# small"
    )
    assert await town.platform.to_plain_text(town.guild.id, text) == (
        "@Ada and @Bob of @crew in #square or #private :drop: 2023-11-14 22:13 UTC /ask"
        " https://a.example/x the butler\nsmall"
    )


async def test_history_merges_the_threads_of_a_channel_newest_first_and_resumes(town: Town) -> None:
    await town.ada.says(town.square, "old", at=town.fake.clock.now() - timedelta(days=5))
    first = await town.ada.says(town.square, "one")
    thread = await town.ada.opens_thread(first, "Numbers")
    await town.bob.says(thread, "two")
    await town.ada.says(town.square, "three")
    four = await town.bob.says(thread, "four")
    town.fake.archives(thread)
    await town.ada.says(town.square, "five")
    place, yesterday = town.location(town.square), town.fake.clock.now() - timedelta(days=1)
    assert [each.text for each in await history(town, place, yesterday)] == ["five", "four", "three", "two", "one"]
    found = {each.text: each.location.thread for each in await history(town, place, before=four.id)}
    assert found == {"three": "", "two": thread.id, "one": "", "old": ""}


async def test_history_comes_in_pages_of_100(town: Town) -> None:
    for number in range(230):
        await town.ada.says(town.square, str(number))
    pages = [page async for page in town.platform.history(town.location(town.square), LONG_AGO)]
    assert [len(page) for page in pages] == [100, 100, 30]
    assert [int(message.text) for page in pages for message in page] == [*reversed(range(230))]


async def test_history_marks_messages_of_the_bot_and_to_it(town: Town) -> None:
    await town.ada.says(town.square, "hello")
    await town.platform.post(town.location(town.square), Card("Good morning"))
    await town.ada.says(town.square, f"{town.mention} where is the key?")
    marks = [(each.own, each.by_bot, each.addressed) for each in await history(town, town.location(town.square))]
    assert marks == [(False, False, True), (True, True, False), (False, False, False)]


async def test_the_history_of_a_forum_is_its_posts(town: Town) -> None:
    post = await town.ada.posts(town.forum, "A new roof", "Copper would be nice.")
    await town.bob.says(post.channel, "Slate!")
    await town.bot.wait_for(MessageReceived, 2)
    found = [(each.text, each.title) for each in await history(town, town.location(town.forum))]
    assert found == [("Slate!", ""), ("Copper would be nice.", "A new roof")]


async def test_a_thread_starts_with_its_first_message_and_what_that_replied_to(town: Town) -> None:
    before = await town.bob.says(town.square, "Is it dry?")
    start = await town.ada.says(town.square, "No, the roof leaks", reply_to=before)
    place = town.location(town.square, start.id)

    async def texts(limit: int) -> tuple[list[str], bool]:
        page = await town.platform.fetch_thread(place, limit)
        return [message.text for message in page.messages], page.is_complete

    assert (await texts(10))[0] == ["Is it dry?", "No, the roof leaks"]
    thread = await town.ada.opens_thread(start, "Roof")
    for number in range(3):
        await town.bob.says(thread, str(number))
    assert (await texts(1))[0] == ["2"]
    town.fake.renames(thread, "The old roof")
    assert await texts(10) == (["Is it dry?", "No, the roof leaks", "0", "1", "2"], True)
    found = (await town.platform.fetch_thread(place, 10)).messages
    assert [message.location.thread for message in found] == ["", "", *[thread.id] * 3]
    assert await texts(4) == (["0", "1", "2"], False)
    town.fake.removes_channel(thread)
    page = await town.platform.fetch_thread(place, 6)
    assert ([message.text for message in page.messages][-1], page.thread_exists) == ("No, the roof leaks", False)


@pytest.mark.parametrize("lacking", [Permission.READ_MESSAGE_HISTORY, Permission.VIEW_CHANNEL])
async def test_a_history_that_is_hidden_from_the_bot_does_not_look_empty(town: Town, lacking: Permission) -> None:
    thread = await town.ada.opens_thread(await town.ada.says(town.square, "No, the roof leaks"), "Roof")
    post = await town.ada.posts(town.forum, "A new roof", "Copper would be nice.")
    await town.bot.wait_for(MessageReceived, 2)
    for channel in (town.square, town.forum):
        town.fake.overwrites(channel, town.fake.bot(town.guild), deny=lacking)
    await until(lambda: len(town.bot.events) > 3)
    for channel, inside in ((town.square, thread), (town.forum, post.channel)):
        place = town.location(channel)
        for call in (
            lambda place=place: history(town, place),
            lambda place=place, inside=inside: town.platform.fetch_thread(replace(place, thread=inside.id), 10),
            lambda place=place, inside=inside: town.platform.fetch_message(replace(place, thread=inside.id), post.id),
        ):
            with pytest.raises(PermissionDenied):
                await call()


async def test_a_file_is_fetched_from_discord_alone_and_not_beyond_the_limit(town: Town) -> None:
    await town.ada.says(town.square, files=[File("plan.txt", b"x" * 1000, "text/plain")])
    message = (await town.bot.wait_for(MessageReceived)).message
    [upload] = message.uploads
    assert await town.platform.fetch_file(message.location, upload, 1000) == b"x" * 1000
    for refused, limit, error in (
        (upload, 999, DocumentTooLarge),
        (replace(upload, size=1), 999, DocumentTooLarge),
        (replace(upload, url="https://evil.example/plan.txt"), 1000, InvalidDocument),
    ):
        with pytest.raises(InvalidDocument) as caught:
            await town.platform.fetch_file(message.location, refused, limit)
        assert type(caught.value) is error


async def test_a_reaction_replaces_the_one_before(town: Town) -> None:
    posted = await town.ada.says(town.square, "a file")
    for reaction, shown in (("working", {"⏳": 1}), ("done", {"✅": 1}), (None, {}), ("failed", {"⚠️": 1})):
        await town.platform.set_reaction(town.location(town.square), posted.id, reaction)  # type: ignore[arg-type]
        assert town.fake.sees(town.ada, town.square).last.reactions == shown


async def test_links_lead_to_messages_in_channels_threads_and_direct_messages(town: Town) -> None:
    guild, square, forum = town.guild.id, town.square, town.forum
    for location, message, path in (
        (town.location(square), "7", f"{guild}/{square.id}/7"),
        (town.location(square, "5"), "7", f"{guild}/5/7"),
        (town.location(square, "5"), "5", f"{guild}/{square.id}/5"),
        (town.location(forum, "5"), "5", f"{guild}/5/5"),
        (Location("discord", "", "9"), "7", "@me/9/7"),
    ):
        assert town.platform.message_link(location, message) == f"https://discord.com/channels/{path}"


async def test_a_card_is_posted_in_as_many_messages_as_it_needs_and_pings_nobody(town: Town) -> None:
    picture = Picture("near.png", b"\x89PNG\r\n\x1a\n", "Ada and her engine")
    text = "@everyone\n" + "\n".join(f"line {number} " + "x" * 80 for number in range(40))
    first = await town.platform.post(town.location(town.square), Card(text, picture))
    posts = town.fake.sees(town.ada, town.square).posts
    assert [bool(post.files) for post in posts] == [True, False]
    assert posts[0].message.id == first
    assert "\n".join(post.content for post in posts) == text
    assert town.fake.pings == []


async def test_a_card_in_a_forum_is_a_post_of_its_own(town: Town) -> None:
    words = [f"word{number}" for number in range(500)]
    posted = await town.platform.post(town.location(town.forum), Card("\n".join(words)))
    [post] = [channel for channel in town.guild.channels.values() if channel.parent is town.forum]
    screen = town.fake.sees(town.ada, post)
    assert (screen.posts[0].message.id, len(screen.posts), screen.text.split()) == (posted, 3, words)
    assert post.name.startswith("word0")


async def test_a_card_for_one_person_is_a_direct_message_and_another_a_reply(town: Town) -> None:
    posted = await town.bob.says(town.square, "again?")
    target = ReplyTarget("", town.location(town.square), town.bob.id, posted.id)
    await town.platform.send_private(replace(target, private=True), Card("Your file is encrypted."))
    await town.platform.send_private(target, Card("That were many questions."))
    assert town.fake.sees(town.bob, town.fake.dm(town.bob)).text == "Your file is encrypted."
    posts = [(post.content, post.reply_to) for post in town.fake.sees(town.ada, town.square).posts]
    assert posts == [("again?", ""), ("That were many questions.", "Bob: again?")]


async def test_a_card_notifies_the_people_whom_it_mentions_and_nobody_else(town: Town) -> None:
    card = Card(f"asks you: @everyone {town.ada.mention}", mentions=(town.bob.id,))
    await town.platform.post(town.location(town.square), card)
    [ping] = town.fake.pings
    assert (ping.users, ping.everyone) == (frozenset({town.bob.id}), False)
    [post] = [each for each in town.fake.sees(town.ada, town.square).posts if each.bot]
    assert post.content.startswith("@Bob asks you")


def test_a_long_card_keeps_its_fences_whole_and_its_buttons_below() -> None:
    button = Button("delete", "a", "Delete")
    messages = split_card(Card("```\n" + "x = 1\n" * 800 + "```", buttons=(button,)))
    assert all(len(message.content) <= MAX_MESSAGE_LENGTH and message.content.count("```") == 2 for message in messages)
    assert [message.buttons for message in messages] == [*[()] * 2, (button,)]
    assert len(split_card(Card(""))) == 1
