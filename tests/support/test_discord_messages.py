"""What the fake enforces of messages: lengths, permissions, references, nonces, listing, reactions, files."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import discord
import pytest

from tests.support.discord_server import FakeDiscord, File, Permission
from tests.support.discord_server.api_caller import open_caller
from tests.support.discord_server.recording_client import open_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.discord_server.api_caller import ApiCaller

BOT = Permission.VIEW_CHANNEL | Permission.SEND_MESSAGES | Permission.READ_MESSAGE_HISTORY


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as fake:
        fake.rates.rules.clear()
        yield fake


@pytest.fixture
async def call(fake: FakeDiscord) -> AsyncIterator[ApiCaller]:
    async with open_caller(fake) as caller:
        yield caller


def embed(**parts: Any) -> dict[str, Any]:
    return {"embeds": [parts]}


def row(*buttons: dict[str, Any]) -> dict[str, Any]:
    return {"type": 1, "components": list(buttons)}


def button(**parts: Any) -> dict[str, Any]:
    return {"type": 2, "style": 1, "label": "x", "custom_id": "x"} | parts


TOO_MUCH = [
    ({"content": "x" * 2001}, "content", "BASE_TYPE_MAX_LENGTH"),
    (embed(title="x" * 257), "embeds.0.title", "BASE_TYPE_MAX_LENGTH"),
    (embed(description="x" * 4097), "embeds.0.description", "BASE_TYPE_MAX_LENGTH"),
    (embed(footer={"text": "x" * 2049}), "embeds.0.footer.text", "BASE_TYPE_MAX_LENGTH"),
    (embed(author={"name": "x" * 257}), "embeds.0.author.name", "BASE_TYPE_MAX_LENGTH"),
    (embed(fields=[{"name": "x", "value": "x"}] * 26), "embeds.0.fields", "BASE_TYPE_MAX_LENGTH"),
    (embed(fields=[{"name": "x" * 257, "value": "x"}]), "embeds.0.fields.0.name", "BASE_TYPE_MAX_LENGTH"),
    (embed(fields=[{"name": "x", "value": "x" * 1025}]), "embeds.0.fields.0.value", "BASE_TYPE_MAX_LENGTH"),
    (embed(fields=[{"name": "x", "value": " "}]), "embeds.0.fields.0.value", "BASE_TYPE_REQUIRED"),
    (embed(title="x", url="javascript:x"), "embeds.0.url", "URL_TYPE_INVALID_SCHEME"),
    ({"embeds": [{"description": "x" * 3001}] * 2}, "embeds", "MAX_EMBED_SIZE_EXCEEDED"),
    ({"embeds": [{"title": "x"}] * 11}, "embeds", "BASE_TYPE_MAX_LENGTH"),
    ({"components": [row(button())] * 6}, "components", "BASE_TYPE_BAD_LENGTH"),
    ({"components": [row(*[button()] * 6)]}, "components.0.components", "BASE_TYPE_BAD_LENGTH"),
    ({"components": [row()]}, "components.0.components", "BASE_TYPE_BAD_LENGTH"),
    ({"components": [row(button(label="x" * 81))]}, "components.0.components.0.label", "BASE_TYPE_MAX_LENGTH"),
    ({"components": [row(button(label=""))]}, "components.0.components.0", "BUTTON_COMPONENT_EMPTY"),
    ({"components": [row(button(custom_id="x" * 101))]}, "components.0.components.0.custom_id", "BASE_TYPE_BAD_LENGTH"),
    ({"components": [row(button(), button())]}, "components", "COMPONENT_CUSTOM_ID_DUPLICATED"),
    (
        {"components": [row({"type": 2, "style": 5, "label": "x", "url": "https://" + "x" * 512})]},
        "components.0.components.0.url",
        "BASE_TYPE_BAD_LENGTH",
    ),
    ({"nonce": "x" * 26}, "nonce", "BASE_TYPE_MAX_LENGTH"),
    ({"flags": 1 << 15, "content": "x"}, "content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"),
    (
        {"flags": 1 << 15, "components": [{"type": 10, "content": "x" * 4001}]},
        "components",
        "COMPONENT_MAX_TOTAL_TEXT",
    ),
    ({"flags": 1 << 15, "components": [{"type": 10, "content": "x"}] * 41}, "components", "BASE_TYPE_BAD_LENGTH"),
    (
        {"allowed_mentions": {"parse": ["users"], "users": ["1"]}},
        "allowed_mentions",
        "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
    ),
]


@pytest.mark.parametrize(("body", "path", "error"), TOO_MUCH, ids=[f"{path} {error}" for _, path, error in TOO_MUCH])
async def test_a_limit_of_messages_is_enforced(
    fake: FakeDiscord, call: ApiCaller, body: dict[str, Any], path: str, error: str
) -> None:
    shop = fake.channel(fake.guild("Maker Club"), "workshop")
    full = {"content": "x"} | body if not body.get("flags") else body
    assert await call.invalid_field("POST", f"/channels/{shop.id}/messages", full) == (path, error)
    assert shop.messages == {}


async def test_maximum_length_is_accepted(fake: FakeDiscord, call: ApiCaller) -> None:
    shop = fake.channel(fake.guild("Maker Club"), "workshop")
    rows = [row(*[button(custom_id=f"{line}:{at}" + "x" * 97) for at in range(5)]) for line in range(5)]
    body = {"content": "x" * 2000, "embeds": [{"title": "x" * 256, "description": "x" * 4096}], "components": rows}
    await call("POST", f"/channels/{shop.id}/messages", body)
    assert call.status == 200
    assert call.headers["Content-Type"] == "application/json"


async def test_text_is_trimmed_and_must_not_be_empty(fake: FakeDiscord, call: ApiCaller) -> None:
    shop = fake.channel(fake.guild("Maker Club"), "workshop")
    assert await call.code("POST", f"/channels/{shop.id}/messages", {"content": "  \n "}) == 50006
    message = await call("POST", f"/channels/{shop.id}/messages", {"content": "  hello \n"})
    assert message["content"] == "hello"
    assert await call.code("PATCH", f"/channels/{shop.id}/messages/{message['id']}", {"content": ""}) == 50006


async def test_permissions_are_needed(fake: FakeDiscord, call: ApiCaller) -> None:
    club = fake.guild("Maker Club", bot=BOT)
    shop = fake.channel(club, "workshop")
    everyone, ada = club.roles[club.id], fake.member(club, "Ada")
    theirs = await ada.says(shop, "hello")
    path = f"/channels/{shop.id}/messages"

    async def without(
        power: Permission, method: str, path: str, body: Any = None, files: list[File] | None = None
    ) -> int:
        fake.overwrites(shop, everyone, deny=power)
        fake.changes_role(club, next(role for role in club.roles.values() if role.managed), BOT & ~power)
        return await call.code(method, path, body, files=files)

    assert await without(Permission.VIEW_CHANNEL, "POST", path, {"content": "x"}) == 50001
    assert await without(Permission.SEND_MESSAGES, "POST", path, {"content": "x"}) == 50013
    assert await without(Permission.EMBED_LINKS, "POST", path, {"embeds": [{"title": "x"}]}) == 50013
    assert await without(Permission.ATTACH_FILES, "POST", path, {}, [File("a.txt", b"x")]) == 50013
    assert await without(Permission.READ_MESSAGE_HISTORY, "GET", f"{path}/{theirs.id}") == 50001
    assert await without(Permission.ADD_REACTIONS, "PUT", f"{path}/{theirs.id}/reactions/✅/@me") == 50013
    assert (
        await without(Permission.CREATE_PUBLIC_THREADS, "POST", f"{path}/{theirs.id}/threads", {"name": "x"}) == 50013
    )
    assert await without(Permission.MANAGE_MESSAGES, "DELETE", f"{path}/{theirs.id}") == 50013
    reply = {"content": "x", "message_reference": {"message_id": theirs.id}}
    assert await without(Permission.READ_MESSAGE_HISTORY, "POST", path, reply) == 160002
    assert await without(Permission.READ_MESSAGE_HISTORY, "GET", path) == 0
    assert await call("GET", path) == []


async def test_unknown_things_are_404(fake: FakeDiscord, call: ApiCaller) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    gone = await ada.says(shop, "soon gone")
    await ada.deletes(gone)
    assert await call.code("GET", "/channels/123") == 10003
    assert await call.code("GET", f"/channels/{shop.id}/messages/{gone.id}") == 10008
    assert await call.code("PUT", f"/channels/{shop.id}/messages/{gone.id}/reactions/✅/@me") == 10008
    assert await call.code("GET", "/guilds/123") == 10004
    assert await call.code("GET", f"/guilds/{club.id}/members/123") == 10013
    assert await call.code("GET", "/nowhere") == 0
    assert call.status == 404


async def test_only_the_author_edits_and_a_reply_needs_its_message(fake: FakeDiscord, call: ApiCaller) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    theirs = await ada.says(shop, "hello")
    path = f"/channels/{shop.id}/messages"
    assert await call.code("PATCH", f"{path}/{theirs.id}", {"content": "x"}) == 50005
    body = {"content": "x", "message_reference": {"message_id": "123"}}
    assert await call.invalid_field("POST", path, body) == ("message_reference", "REPLIES_UNKNOWN_MESSAGE")
    lenient = {"message_id": "123", "fail_if_not_exists": False}
    assert (await call("POST", path, {"content": "x", "message_reference": lenient})).get("message_reference") is None


async def test_a_nonce_that_is_enforced_gives_back_the_message_that_is_there(
    fake: FakeDiscord, call: ApiCaller
) -> None:
    shop = fake.channel(fake.guild("Maker Club"), "workshop")
    body = {"content": "once", "nonce": "answer-1", "enforce_nonce": True}
    first = await call("POST", f"/channels/{shop.id}/messages", body)
    second = await call("POST", f"/channels/{shop.id}/messages", body | {"content": "twice"})
    assert (first["id"], second["content"]) == (second["id"], "once")
    await call("POST", f"/channels/{shop.id}/messages", body | {"enforce_nonce": False})
    assert len(shop.messages) == 2


async def test_history_pages_before_after_and_around(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    old = datetime.now(UTC) - timedelta(days=30)
    for hour in range(7):
        await ada.says(shop, str(hour), at=old + timedelta(hours=hour))
    async with open_client(fake) as client:
        channel: Any = client.get_channel(int(shop.id))
        newest = [message async for message in channel.history(limit=3)]
        assert [message.content for message in newest] == ["6", "5", "4"]
        assert newest[0].created_at == pytest.approx(old + timedelta(hours=6), abs=timedelta(seconds=1))
        since = old + timedelta(hours=4, minutes=1)
        assert [message.content async for message in channel.history(after=since)] == ["5", "6"]
        assert [message.content async for message in channel.history(limit=2, before=newest[2])] == ["3", "2"]
        assert [m.content async for m in channel.history(limit=3, around=newest[2])] == ["5", "4", "3"]


async def test_bulk_deletion_takes_2_to_100_young_messages(fake: FakeDiscord, call: ApiCaller) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    old = await ada.says(shop, "old", at=datetime.now(UTC) - timedelta(days=15))
    young = [await ada.says(shop, str(at)) for at in range(3)]
    path = f"/channels/{shop.id}/messages/bulk-delete"
    assert await call.code("POST", path, {"messages": [old.id]}) == 50016
    assert await call.code("POST", path, {"messages": [old.id, young[0].id]}) == 50034
    async with open_client(fake) as client:
        await call("POST", path, {"messages": [one.id for one in young]})
        (event,) = await client.wait_for_event("raw_bulk_message_delete")
        assert event.message_ids == {int(one.id) for one in young}
    assert list(shop.messages) == [old.id]


async def test_files_go_up_and_come_down_while_their_address_is_valid(fake: FakeDiscord, call: ApiCaller) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    async with open_client(fake) as client:
        channel: Any = client.get_channel(int(shop.id))
        sent = await channel.send("look", files=[discord.File(io.BytesIO(b"answer"), "answer.md")])
        assert await sent.attachments[0].read() == b"answer"
        theirs = await ada.says(shop, "mine", files=[File("the plan.txt", b"plan")])
        (message,) = await client.wait_for_event("message", 2)
        assert message.attachments[0].filename == "the_plan.txt"
        assert await message.attachments[0].read() == b"plan"
        fake.clock.advance(25 * 3600)
        with pytest.raises(discord.NotFound):
            await message.attachments[0].read()
        again = await channel.fetch_message(message.id)
        assert await again.attachments[0].read() == b"plan"
        await ada.deletes(theirs)
        with pytest.raises(discord.NotFound):
            await again.attachments[0].read()
    big = [File("big.bin", b"x" * (10 * 1024 * 1024 + 1))]
    assert await call.code("POST", f"/channels/{shop.id}/messages", {}, files=big) == 40005


async def test_an_edit_keeps_only_the_attachments_that_it_names(fake: FakeDiscord, call: ApiCaller) -> None:
    shop = fake.channel(fake.guild("Maker Club"), "workshop")
    path = f"/channels/{shop.id}/messages"
    sent = await call("POST", path, {"content": "x"}, files=[File("a.txt", b"a"), File("b.txt", b"b")])
    kept = sent["attachments"][1]["id"]
    edited = await call("PATCH", f"{path}/{sent['id']}", {"attachments": [{"id": kept}]})
    assert [one["filename"] for one in edited["attachments"]] == ["b.txt"]


async def test_a_link_is_previewed_by_an_update_that_is_no_edit(fake: FakeDiscord, call: ApiCaller) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    async with open_client(fake) as client:
        await ada.says(shop, "see https://example.org/page")
        (event,) = await client.wait_for_event("raw_message_edit")
        assert event.message.edited_at is None
        assert event.message.embeds[0].url == "https://example.org/page"
    path = f"/channels/{shop.id}/messages"
    await call("POST", path, {"content": "see <https://example.org/quiet>"})
    await call("POST", path, {"content": "see https://example.org/flagged", "flags": 4})
    assert fake.previews == []
    await call("POST", path, {"content": "see [this](https://example.org/loud)"})
    assert [url for _, url in fake.previews] == ["https://example.org/loud"]


async def test_dm_needs_a_common_guild_and_open_dms(fake: FakeDiscord, call: ApiCaller) -> None:
    club = fake.guild("Maker Club")
    ada = fake.member(club, "Ada")
    channel = await call("POST", "/users/@me/channels", {"recipient_id": ada.id})
    assert await call.code("POST", f"/channels/{channel['id']}/messages", {"content": "hello"}) == 0
    ada.user.takes_dms = False
    assert await call.code("POST", f"/channels/{channel['id']}/messages", {"content": "hello"}) == 50007
    assert "Threadlore [APP]: hello" in str(fake.sees(ada, fake.dm(ada)))
