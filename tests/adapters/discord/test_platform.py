from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from adapters.discord.platform import split_card
from adapters.discord.replies.render import MAX_MESSAGE_LENGTH
from bot.errors import PermissionDenied, PlatformError
from bot.platform.events import MessageReceived
from bot.platform.models import Button, Card, Location, Picture
from bot.platform.ports import ReplyTarget
from engine.errors import DocumentTooLarge, InvalidDocument
from tests.support.discord_server import File, Permission

if TYPE_CHECKING:
    from tests.adapters.discord.conftest import Town

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


async def told(town: Town, place: Location) -> list[str]:
    """All that a channel's history gives, newest first."""
    return [message.text async for page in town.platform.history(place, LONG_AGO) for message in page]


async def test_a_channel_that_everyone_reads_is_open_until_somebody_is_denied_it(town: Town) -> None:
    place = town.place(town.square)
    facts = await town.platform.fetch_channel(place)
    assert (facts.kind, facts.name, facts.members, facts.adult) == ("open", "square", frozenset(), False)
    town.fake.overwrites(town.square, town.bob, deny=Permission.READ_MESSAGE_HISTORY)
    await town.fake.wait_for(lambda: town.ear.heard)
    closed = await town.platform.fetch_channel(place)
    assert closed.kind == "closed"
    assert town.ada.id in closed.members
    assert town.bob.id not in closed.members


async def test_a_hidden_channel_is_closed_to_those_who_may_read_it(town: Town) -> None:
    facts = await town.platform.fetch_channel(town.place(town.cellar))
    assert facts.kind == "closed"
    assert {town.ada.id, town.guild.owner.id} <= facts.members
    assert town.bob.id not in facts.members


async def test_a_public_thread_is_read_by_whoever_reads_its_channel(town: Town) -> None:
    start = await town.ada.says(town.square, "about the roof")
    await town.ada.opens_thread(start, "Roof")
    await town.ear.hears(MessageReceived)
    place = Location("discord", town.guild.id, town.square.id, start.id)
    assert (await town.platform.fetch_channel(place)).kind == "open"


async def test_a_private_thread_is_read_by_its_members_who_still_see_the_channel(town: Town) -> None:
    thread = await town.ada.opens_thread(town.square, "Secrets", private=True)
    await town.ada.adds(thread, town.fake.bot(town.guild))
    await town.ada.says(thread, "psst")
    heard = await town.ear.hears(MessageReceived)
    facts = await town.platform.fetch_channel(heard.message.location)
    assert facts.kind == "closed"
    assert town.ada.id in facts.members
    assert town.bob.id not in facts.members
    town.fake.overwrites(town.square, town.ada, deny=Permission.VIEW_CHANNEL)
    await town.fake.wait_for(lambda: len(town.ear.heard) > 1)
    assert town.ada.id not in (await town.platform.fetch_channel(heard.message.location)).members


async def test_an_age_restricted_channel_says_so(town: Town) -> None:
    town.fake.restricts_age(town.square)
    await town.fake.wait_for(lambda: town.ear.heard)
    assert (await town.platform.fetch_channel(town.place(town.square))).adult


async def test_the_text_of_a_voice_channel_is_for_those_who_may_connect(town: Town) -> None:
    voice = town.fake.channel(town.guild, "bridge", "voice")
    await town.fake.wait_for(lambda: town.platform.client.get_channel(int(voice.id)))
    assert (await town.platform.fetch_channel(town.place(voice))).kind == "open"
    town.fake.overwrites(voice, town.bob, deny=Permission.CONNECT)
    await town.fake.wait_for(lambda: town.ear.heard)
    facts = await town.platform.fetch_channel(town.place(voice))
    assert (facts.kind, town.bob.id in facts.members, town.ada.id in facts.members) == ("closed", False, True)


async def test_nothing_is_believed_of_readers_once_the_connection_is_lost_for_a_minute(town: Town) -> None:
    town.platform.disconnected_at = time.monotonic() - 59
    assert (await town.platform.fetch_channel(town.place(town.square))).kind == "open"
    town.platform.disconnected_at -= 2
    with pytest.raises(PlatformError):
        await town.platform.fetch_channel(town.place(town.square))
    with pytest.raises(PlatformError):
        await town.platform.fetch_person(town.guild.id, town.ada.id)


async def test_a_direct_conversation_is_with_one_person(town: Town) -> None:
    await town.bob.dms("psst")
    place = (await town.ear.hears(MessageReceived)).message.location
    facts = await town.platform.fetch_channel(place)
    assert (facts.kind, facts.members) == ("direct", frozenset({town.bob.id}))


async def test_a_channel_that_nobody_knows_is_an_error(town: Town) -> None:
    with pytest.raises(PlatformError):
        await town.platform.fetch_channel(Location("discord", town.guild.id, "123"))


async def test_people_are_members_managers_or_guests(town: Town) -> None:
    crew = town.fake.role(town.guild, "crew", Permission.MANAGE_GUILD)
    stranger = town.fake.user("Eve")
    town.fake.gives(town.ada, crew)
    await town.fake.wait_for(lambda: town.ear.heard)
    ada, bob, eve = [
        await town.platform.fetch_person(town.guild.id, each) for each in (town.ada.id, town.bob.id, stranger.id)
    ]
    assert (ada.name, ada.is_manager, ada.is_guest) == ("Ada", True, False)
    assert (bob.is_manager, bob.is_guest) == (False, False)
    assert (eve.name, eve.is_guest, eve.is_manager) == ("Eve", True, False)


async def test_markup_becomes_words_and_hidden_channels_stay_unnamed(town: Town) -> None:
    crew = town.fake.role(town.guild, "crew")
    guild = town.platform.client.get_guild(int(town.guild.id))
    await town.fake.wait_for(lambda: guild and guild.get_role(int(crew.id)))
    text = (
        f"<@{town.ada.id}> and <@!{town.bob.id}> of <@&{crew.id}> in <#{town.square.id}> or <#{town.cellar.id}>"
        " <:drop:123> <t:1700000000:R> </ask:5> <https://a.example/x> ||the butler||\n-# small"
    )
    assert await town.platform.to_plain_text(town.guild.id, text) == (
        "@Ada and @Bob of @crew in #square or #private :drop: 2023-11-14 22:13 UTC /ask"
        " https://a.example/x the butler\nsmall"
    )


async def test_history_has_the_channel_and_its_threads_newest_first_in_resumable_pages(town: Town) -> None:
    first = await town.ada.says(town.square, "one")
    thread = await town.ada.opens_thread(first, "Numbers")
    await town.bob.says(thread, "two")
    await town.ada.says(town.square, "three")
    old = await town.bob.says(thread, "four")
    town.fake.archives(thread)
    await town.ada.says(town.square, "five")
    await town.ear.hears(MessageReceived, 5)
    place = town.place(town.square)
    assert await told(town, place) == ["five", "four", "three", "two", "one"]
    pages = [page async for page in town.platform.history(place, LONG_AGO, before=old.id)]
    assert [message.text for page in pages for message in page] == ["three", "two", "one"]
    where = {message.text: message.location for page in pages for message in page}
    assert (where["one"].thread, where["two"].thread) == ("", thread.id)


async def test_history_ends_at_its_time(town: Town) -> None:
    await town.ada.says(town.square, "old", at=datetime.now(UTC) - timedelta(days=5))
    await town.ada.says(town.square, "new")
    since = datetime.now(UTC) - timedelta(days=1)
    pages = [page async for page in town.platform.history(town.place(town.square), since)]
    assert [message.text for page in pages for message in page] == ["new"]


async def test_what_is_said_in_a_forum_is_a_post_of_its_own(town: Town) -> None:
    words = [f"word{number}" for number in range(500)]
    said = await town.platform.post(town.place(town.forum), Card("\n".join(words)))
    [post] = [channel for channel in town.guild.channels.values() if channel.parent is town.forum]
    screen = town.fake.sees(town.ada, post)
    assert screen.posts[0].message.id == said
    assert screen.text.split() == words
    assert len(screen.posts) == 3
    assert post.name.startswith("word0")


async def test_the_history_of_a_forum_is_its_posts(town: Town) -> None:
    post = await town.ada.posts(town.forum, "A new roof", "Copper would be nice.")
    await town.bob.says(post.channel, "Slate!")
    await town.ear.hears(MessageReceived, 2)
    pages = [page async for page in town.platform.history(town.place(town.forum), LONG_AGO)]
    assert [(each.text, each.title) for page in pages for each in page] == [
        ("Slate!", ""),
        ("Copper would be nice.", "A new roof"),
    ]


async def test_a_long_history_is_read_page_by_page(town: Town) -> None:
    town.fake.rates.rules.clear()
    for number in range(230):
        await town.ada.says(town.square, str(number))
    pages = [page async for page in town.platform.history(town.place(town.square), LONG_AGO)]
    assert [len(page) for page in pages] == [100, 100, 30]
    assert [int(each.text) for page in pages for each in page] == [*reversed(range(230))]


async def test_a_thread_is_told_with_the_message_it_began_on_and_what_that_replied_to(town: Town) -> None:
    before = await town.bob.says(town.square, "Is it dry?")
    start = await town.ada.says(town.square, "No, the roof leaks", reply_to=before)
    place = Location("discord", town.guild.id, town.square.id, start.id)
    assert [each.text for each in (await town.platform.fetch_thread(place, 10)).messages] == [
        "Is it dry?",
        "No, the roof leaks",
    ]
    thread = await town.ada.opens_thread(start, "Roof")
    await town.bob.says(thread, "Where?")
    found = (await town.platform.fetch_thread(place, 10)).messages
    assert [each.text for each in found] == ["Is it dry?", "No, the roof leaks", "Where?"]
    assert [each.location.thread for each in found] == ["", "", thread.id]
    assert [each.text for each in (await town.platform.fetch_thread(place, 1)).messages] == ["Where?"]


async def test_a_thread_says_whether_all_of_it_is_listed(town: Town) -> None:
    start = await town.ada.says(town.square, "No, the roof leaks")
    thread = await town.ada.opens_thread(start, "Roof")
    place = Location("discord", town.guild.id, town.square.id, thread.id)
    for number in range(3):
        await town.bob.says(thread, str(number))
    town.fake.renames(thread, "The old roof")
    assert (await town.platform.fetch_thread(place, 6)).is_complete
    listing = await town.platform.fetch_thread(place, 4)
    assert ([each.text for each in listing.messages], listing.is_complete) == (["0", "1", "2"], False)
    town.fake.removes_channel(thread)
    listing = await town.platform.fetch_thread(place, 6)
    assert ([each.text for each in listing.messages], listing.thread_exists) == (["No, the roof leaks"], False)


@pytest.mark.parametrize("lacking", [Permission.READ_MESSAGE_HISTORY, Permission.VIEW_CHANNEL])
async def test_a_history_that_is_hidden_from_the_bot_is_not_told_to_be_empty(town: Town, lacking: Permission) -> None:
    start = await town.ada.says(town.square, "No, the roof leaks")
    thread = await town.ada.opens_thread(start, "Roof")
    await town.bob.says(thread, "Where?")
    post = await town.ada.posts(town.forum, "A new roof", "Copper would be nice.")
    await town.ear.hears(MessageReceived, 3)
    for channel in (town.square, town.forum):
        town.fake.overwrites(channel, town.fake.bot(town.guild), deny=lacking)
    await town.fake.wait_for(lambda: len(town.ear.heard) > 4)
    for channel, inside in ((town.square, thread), (town.forum, post.channel)):
        place = Location("discord", town.guild.id, channel.id)
        with pytest.raises(PermissionDenied):
            await told(town, place)
        with pytest.raises(PermissionDenied):
            await town.platform.fetch_thread(replace(place, thread=inside.id), 10)
        with pytest.raises(PermissionDenied):
            await town.platform.fetch_message(replace(place, thread=inside.id), post.id)


async def test_a_file_is_fetched_from_discord_alone_and_not_beyond_the_limit(town: Town) -> None:
    await town.ada.says(town.square, files=[File("plan.txt", b"x" * 1000, "text/plain")])
    [upload] = (await town.ear.hears(MessageReceived)).message.uploads
    assert await town.platform.fetch_file(upload, 1000) == b"x" * 1000
    with pytest.raises(DocumentTooLarge):
        await town.platform.fetch_file(upload, 999)
    foreign = type(upload)(upload.id, upload.name, upload.size, upload.kind, "https://evil.example/plan.txt")
    with pytest.raises(InvalidDocument):
        await town.platform.fetch_file(foreign, 1000)
    lying = type(upload)(upload.id, upload.name, 1, upload.kind, upload.url)
    with pytest.raises(DocumentTooLarge):
        await town.platform.fetch_file(lying, 999)


async def test_a_sign_takes_the_place_of_the_one_before(town: Town) -> None:
    said = await town.ada.says(town.square, "a file")
    place = town.place(town.square)
    for sign in ("working", "done", None, "failed"):
        await town.platform.set_reaction(place, said.id, sign)
        seen = town.fake.sees(town.ada, town.square).last.reactions
        assert seen == {"working": {"⏳": 1}, "done": {"✅": 1}, None: {}, "failed": {"⚠️": 1}}[sign]


async def test_links_lead_to_messages_in_channels_threads_and_direct_talk(town: Town) -> None:
    guild, square = town.guild.id, town.square.id
    root = f"https://discord.com/channels/{guild}"
    assert town.platform.message_link(Location("discord", guild, square), "7") == f"{root}/{square}/7"
    assert town.platform.message_link(Location("discord", guild, square, "5"), "7") == f"{root}/5/7"
    assert town.platform.message_link(Location("discord", guild, square, "5"), "5") == f"{root}/{square}/5"
    assert town.platform.message_link(Location("discord", guild, town.forum.id, "5"), "5") == f"{root}/5/5"
    assert town.platform.message_link(Location("discord", "", "9"), "7") == "https://discord.com/channels/@me/9/7"


async def test_a_card_is_posted_in_as_many_messages_as_it_needs_and_calls_nobody(town: Town) -> None:
    picture = Picture("near.png", b"\x89PNG\r\n\x1a\n", "Ada and her engine")
    text = "@everyone\n" + "\n".join(f"line {number} " + "x" * 80 for number in range(40))
    first = await town.platform.post(town.place(town.square), Card(text, picture))
    posts = town.fake.sees(town.ada, town.square).posts
    assert [bool(post.files) for post in posts] == [True, False]
    assert posts[0].message.id == first
    assert "\n".join(post.content for post in posts) == text
    assert town.fake.pings == []


async def test_what_is_said_to_one_person_without_a_command_goes_into_a_direct_message(town: Town) -> None:
    target = ReplyTarget("", town.place(town.square), town.bob.id, private=True)
    await town.platform.send_private(target, Card("Your file is encrypted."))
    assert town.fake.sees(town.bob, town.fake.dm(town.bob)).last.content == "Your file is encrypted."
    assert town.fake.sees(town.ada, town.square).posts == ()


async def test_what_is_not_private_is_said_below_the_message_that_it_is_about(town: Town) -> None:
    said = await town.bob.says(town.square, "again?")
    target = ReplyTarget("", town.place(town.square), town.bob.id, said.id)
    await town.platform.send_private(target, Card("That were many questions."))
    post = town.fake.sees(town.ada, town.square).last
    assert (post.content, post.reply_to) == ("That were many questions.", "Bob: again?")


async def test_history_tells_the_bots_own_messages_and_those_to_it_apart(town: Town) -> None:
    await town.ada.says(town.square, "hello")
    await town.platform.post(town.place(town.square), Card("Good morning"))
    await town.ada.says(town.square, f"{town.mention} where is the key?")
    pages = [page async for page in town.platform.history(town.place(town.square), LONG_AGO)]
    told_ = [(each.own, each.by_bot, each.addressed) for page in pages for each in page]
    assert told_ == [(False, False, True), (True, True, False), (False, False, False)]


def test_a_long_card_keeps_its_fences_whole_and_its_buttons_below() -> None:
    button = Button("delete", "a", "Delete")
    messages = split_card(Card("```\n" + "x = 1\n" * 800 + "```", buttons=(button,)))
    assert len(messages) > 1
    assert all(len(each.content) <= MAX_MESSAGE_LENGTH and each.content.count("```") == 2 for each in messages)
    assert [each.buttons for each in messages] == [*[()] * (len(messages) - 1), (button,)]


def test_an_empty_card_is_one_message() -> None:
    assert len(split_card(Card(""))) == 1
