"""Files that are not read: no sign and no word for those in which people rarely write, and a list of all of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.capabilities.documents.unread import list_unread
from bot.errors import PermissionDenied
from bot.i18n import use_language
from bot.platform.events import ChannelRemoved, FilesRemoved, MessageEdited, MessagesDeleted, VisibilityChanged
from bot.platform.models import Location, Message, Upload
from engine.models import Scope
from engine.text.cleanup import MAX_NAME_LENGTH
from tests.support.bot_fixture import BotFixture
from tests.support.builders import ROOF

OPEN = Scope(frozenset({"slack:T1:open"}), frozenset())
MEDIA = (
    ("goat.png", b"\x89PNG\r\n\x1a\n", "image/png"),
    ("dance.gif", b"GIF89a", "image/gif"),
    ("voice-message.ogg", b"OggS\0\0", "audio/ogg"),
    ("clip.mp4", b"\0\0\0\x20ftypisom", "video/mp4"),
    ("setup.exe", b"MZ\x90\0\3", "application/x-msdownload"),
    ("scene.blend", b"BLENDER\0\1\2\3", ""),
)
Change = Callable[[BotFixture, Message], Awaitable[object]]
pytestmark = pytest.mark.usefixtures("roof")


def add_media(bot: BotFixture) -> list[Upload]:
    return [bot.platform.add_file(name, data, kind=kind) for name, data, kind in MEDIA]


async def share_broken(bot: BotFixture, place: Location = ROOF) -> Message:
    """A document that cannot be opened, which was shared and handled."""
    message = await bot.receive(bot.share(place, bot.platform.add_file("plan.pdf", b"%PDF-1.4 torn", kind="")))
    await bot.ingest_service.files.ingest_and_confirm(message)
    return message


async def list_names(bot: BotFixture, scope: Scope = OPEN) -> list[str]:
    return [each.name for each in await bot.store.unread_files.list_newest(scope)]


async def test_files_that_nobody_gave_to_the_bot_get_no_message_and_no_sign(bot: BotFixture) -> None:
    posted = list(bot.platform.posts)
    for medium in add_media(bot):
        await bot.ingest_service.files.ingest_and_confirm(bot.share(ROOF, medium))
    assert (bot.platform.posts, bot.platform.private_messages) == (posted, [])
    assert [signs for signs in bot.platform.reactions.values() if signs[-1] is not None] == []
    assert sorted(await list_names(bot)) == sorted(name for name, *_ in MEDIA)
    assert await bot.store.unread_files.count_families(OPEN) == {
        "picture": 2,
        **dict.fromkeys(["film", "other", "program", "sound"], 1),
    }


async def test_a_file_that_the_bot_lacks_a_permission_for_is_refused_with_who_can_give_it(bot: BotFixture) -> None:
    refusal = PermissionDenied("Slack does not hand out it.", permissions=["files:read"])
    bot.platform.failing["fetch"] = refusal
    with use_language("de"):
        await share_broken(bot)
    [(_, card)] = bot.platform.private_messages
    assert "die Berechtigung „files:read“" in card.text
    assert bot.context.denials.take() == [(ROOF, ("files:read",))]


async def test_a_file_that_is_removed_from_one_channel_is_still_listed_in_another(bot: BotFixture) -> None:
    upload, hall = add_media(bot)[0], await bot.join("HALL", "bob")
    for place in (ROOF, hall):
        await bot.ingest_service.files.ingest_and_confirm(bot.share(place, upload))
    await bot.ingest_service.handle(FilesRemoved(ROOF, (upload.id,)))
    assert [each.room for each in await bot.store.unread_files.list_newest(OPEN)] == [hall.room]


async def test_a_document_beside_a_picture_is_confirmed(bot: BotFixture) -> None:
    plan = bot.platform.add_file("plan.txt", b"The plan is ready.")
    message = bot.share(ROOF, plan, add_media(bot)[0])
    await bot.ingest_service.files.ingest_and_confirm(message)
    assert bot.platform.reactions[message.id] == ["working", "done"]
    assert bot.platform.private_messages == []


@pytest.mark.parametrize("place", ["direct", "mention"])
async def test_who_gave_a_picture_to_the_bot_is_told_alone(bot: BotFixture, place: str) -> None:
    here = bot.platform.add_channel("D1", "ada", kind="direct") if place == "direct" else ROOF
    message = replace(bot.share(here, add_media(bot)[0]), addressed=place == "mention")
    await bot.ingest_service.files.ingest_and_confirm(message)
    [(target, card)] = bot.platform.private_messages
    assert (target.person, target.private) == ("ada", True)
    assert "goat.png: I can't look at pictures." in card.text
    assert bot.platform.reactions[message.id][-1] == "failed"
    assert await list_names(bot) == ([] if place == "direct" else ["goat.png"])


async def test_a_broken_document_has_a_sign_and_its_author_alone_is_told(bot: BotFixture) -> None:
    message = await share_broken(bot)
    assert bot.platform.reactions[message.id] == ["working", "failed"]
    [(target, _)] = bot.platform.private_messages
    assert (target.person, target.private) == ("ada", True)
    [listed] = await bot.store.unread_files.list_newest(OPEN)
    assert (listed.name, listed.family, listed.author, listed.room) == ("plan.pdf", "", "ada", ROOF.room)
    assert listed.reason


async def test_a_file_that_is_read_later_is_not_listed_any_more(bot: BotFixture) -> None:
    message = await share_broken(bot)
    bot.platform.files[message.uploads[0].id] = b"The plan is ready."
    text = replace(message, uploads=(replace(message.uploads[0], name="plan.txt"),))
    await bot.ingest_service.files.ingest(text)
    assert await list_names(bot) == []


async def delete_message(bot: BotFixture, message: Message) -> None:
    await bot.ingest_service.handle(MessagesDeleted(ROOF, (message.id,)))


async def remove_file(bot: BotFixture, message: Message) -> None:
    await bot.ingest_service.handle(FilesRemoved(ROOF, (message.uploads[0].id,)))


async def edit_out(bot: BotFixture, message: Message) -> None:
    await bot.ingest_service.handle(MessageEdited(replace(message, text="Never mind.", uploads=(), edited="+")))


async def forget_author(bot: BotFixture, _: Message) -> None:
    await bot.forget_person("ada")


async def forget_channel(bot: BotFixture, _: Message) -> None:
    await bot.ingest_service.handle(ChannelRemoved(ROOF))


async def forget_file(bot: BotFixture, message: Message) -> None:
    await bot.ingest_service.forget_document(f"{ROOF.room}:file:{message.id}:{message.uploads[0].id}")


async def delete_old(bot: BotFixture, message: Message) -> None:
    await bot.store.unread_files.delete_before(message.time + timedelta(seconds=1))


CHANGES = [delete_message, remove_file, edit_out, forget_author, forget_channel, forget_file, delete_old]


@pytest.mark.parametrize("change", CHANGES)
async def test_a_file_leaves_the_list_with_its_message_its_author_and_its_channel(
    bot: BotFixture, change: Change
) -> None:
    message = await share_broken(bot)
    assert await list_names(bot) == ["plan.pdf"]
    await change(bot, message)
    assert await list_names(bot) == []


async def test_a_file_that_was_deleted_before_it_was_handled_is_not_listed(bot: BotFixture) -> None:
    message = bot.share(ROOF, bot.platform.add_file("plan.pdf", b"%PDF-1.4 torn", kind=""))
    await delete_message(bot, message)
    await bot.ingest_service.files.ingest_and_confirm(message)
    assert await list_names(bot) == []


async def test_only_who_can_read_a_channel_sees_what_was_not_read_there(bot: BotFixture) -> None:
    await share_broken(bot)
    bot.platform.change_channel("ROOF", kind="closed")
    await bot.ingest_service.handle(VisibilityChanged(ROOF))
    assert await list_names(bot) == []
    assert await bot.store.unread_files.count_families(OPEN) == {}
    assert await list_names(bot, Scope(frozenset(), frozenset({ROOF.room}))) == ["plan.pdf"]


async def test_the_past_of_a_channel_counts_likewise(bot: BotFixture) -> None:
    bot.share(ROOF, add_media(bot)[0], text="Our goat.")
    await bot.backfill(ROOF)
    assert await list_names(bot) == ["goat.png"]
    assert (bot.platform.reactions, bot.platform.private_messages) == ({}, [])


async def test_a_list_of_many_files_is_read_in_pages(bot: BotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.capabilities.documents.unread.MAX_UNREAD", 2)
    monkeypatch.setattr("bot.capabilities.documents.unread.MAX_SEARCHED", 6)
    for number in range(8):
        name = f"{'Kiln' if number < 4 else 'clay'}-{number}-{'x' * 500}.exe"
        upload = bot.platform.add_file(name, b"MZ", kind="")
        await bot.ingest_service.files.ingest_and_confirm(bot.share(ROOF, upload))

    async def find(words: str) -> list[str]:
        return [each.name.partition("-x")[0] for each in await list_unread(bot.store, OPEN, words)]

    assert await find("") == ["clay-7", "clay-6"]
    assert await find("KILN") == ["Kiln-3", "Kiln-2"]
    assert await find("kiln-1") == []  # too old
    assert {len(name) for name in await list_names(bot)} == {MAX_NAME_LENGTH}
