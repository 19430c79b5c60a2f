from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from tests.support.discord_rules.club import NO_EMBEDS, POST, Api, Club
from tests.support.discord_server import File, Permission
from tests.support.discord_server.faults import RateRule
from tests.support.discord_server.model import Channel, ChannelType, MessageType

REPLY = {"message_id": "{message}"}


@pytest.mark.parametrize(
    ("lacking", "method", "path", "body", "code"),
    [
        (Permission.VIEW_CHANNEL, *POST, {"content": "x"}, 50001),
        (Permission.SEND_MESSAGES, *POST, {"content": "x"}, 50013),
        (Permission.READ_MESSAGE_HISTORY, *POST, {"content": "x", "message_reference": REPLY}, 160002),
        (Permission.READ_MESSAGE_HISTORY, "GET", POST[1], None, 0),
        (Permission.READ_MESSAGE_HISTORY, "GET", f"{POST[1]}/{{message}}", None, 50001),
        (Permission.READ_MESSAGE_HISTORY, "GET", "/channels/{channel}/threads/archived/public", None, 50013),
        (Permission.ADD_REACTIONS, "PUT", f"{POST[1]}/{{message}}/reactions/✅/@me", None, 50013),
        (Permission.CREATE_PUBLIC_THREADS, "POST", f"{POST[1]}/{{message}}/threads", {"name": "x"}, 50013),
        (Permission.MANAGE_MESSAGES, "DELETE", f"{POST[1]}/{{message}}", None, 50013),
        (Permission.MANAGE_CHANNELS, "DELETE", "/channels/{channel}", None, 50013),
    ],
    ids=lambda value: value.name or "" if isinstance(value, Permission) else "",
)
async def test_a_call_without_its_permission_is_refused(
    club: Club, lacking: Permission, method: str, path: str, body: Any, code: int
) -> None:
    ids = {"{channel}": club.shop.id, "{message}": (await club.ada.says(club.shop, "hello")).id}
    call = json.dumps([path, body])
    for name, ident in ids.items():
        call = call.replace(name, ident)
    club.deny(lacking)
    assert await club.api.code(method, *json.loads(call)) == code


async def test_without_history_the_list_is_empty_and_files_need_a_permission(club: Club) -> None:
    await club.ada.says(club.shop, "hello")
    assert [each["content"] for each in await club.api("GET", club.path)] == ["hello"]
    club.deny(Permission.READ_MESSAGE_HISTORY)
    assert await club.api("GET", club.path) == []
    club.deny(Permission.ATTACH_FILES)
    assert await club.api.code("POST", club.path, {}, File("a.txt", b"a")) == 50013
    club.fake.overwrites(club.shop, club.fake.bot(club.guild))
    assert await club.api.code("POST", club.path, {}, File("a.txt", b"x" * (10 * 2**20 + 1))) == 40005


async def test_what_is_not_there_or_not_the_apps_is_refused(club: Club) -> None:
    gone, theirs = await club.ada.says(club.shop, "gone"), await club.ada.says(club.shop, "theirs")
    thread = await club.ada.opens_thread(theirs, "topic")
    forum = club.fake.channel(club.guild, "ideas", "forum")
    await club.ada.deletes(gone)
    await club.post(nonce="1")
    starter = next(iter(thread.messages))
    to_starter = {"message_id": starter}
    refused = [
        ("GET", "/nowhere", None, 0),
        ("GET", "/channels/123", None, 10003),
        ("GET", "/guilds/123", None, 10004),
        ("GET", "/users/123", None, 10013),
        ("POST", "/users/@me/channels", {"recipient_id": "123"}, 10013),
        ("GET", f"/guilds/{club.guild.id}/members/123", None, 10013),
        ("GET", f"/guilds/{club.guild.id}/members/{club.fake.user('Eve').id}", None, 10007),
        ("GET", f"{club.path}/{gone.id}", None, 10008),
        ("PUT", f"{club.path}/{gone.id}/reactions/✅/@me", None, 10008),
        ("PUT", f"{club.path}/{theirs.id}/reactions/tick/@me", None, 10014),
        ("DELETE", f"{club.path}/{theirs.id}/reactions/✅/@me", None, 10014),
        ("PATCH", f"{club.path}/{theirs.id}", {"content": "x"}, 50005),
        ("POST", club.path, {"content": " \n "}, 50006),
        ("GET", f"{club.path}?limit=101", None, 50035),
        ("POST", f"/channels/{thread.id}/messages", {"content": "x", "message_reference": to_starter}, 50035),
        ("POST", f"{club.path}/{theirs.id}/threads", {"name": "again"}, 160004),
        ("POST", f"{club.path}/{theirs.id}/threads", {"name": "x" * 101}, 50035),
        ("POST", f"/channels/{thread.id}/messages/{starter}/threads", {"name": "inside"}, 50024),
        ("POST", f"/channels/{club.shop.id}/threads", {"name": "x"}, 50024),
        ("POST", f"/channels/{forum.id}/messages", {"content": "x"}, 50008),
        ("GET", f"/channels/{forum.id}/messages", None, 50008),
    ]
    for method, path, body, code in refused:
        assert await club.api.code(method, path, body) == code, (method, path)


async def test_edits_leave_something_and_replace_files(club: Club) -> None:
    sent = await club.api("POST", club.path, {"content": "x"}, File("a b.txt", b"a"), File("b.txt", b"b"))
    assert [each["filename"] for each in sent["attachments"]] == ["a_b.txt", "b.txt"]
    path = f"{club.path}/{sent['id']}"
    assert (await club.api("PATCH", path, {"content": "y"}))["attachments"] != []
    edited = await club.api("PATCH", path, {"attachments": [{"id": 0}]}, File("c.txt", b"c"))
    assert [each["filename"] for each in edited["attachments"]] == ["c.txt"]
    assert await club.api.code("PATCH", path, {"content": "", "attachments": []}) == 50006


async def test_a_nonce_that_is_enforced_returns_the_message_that_is_there(club: Club) -> None:
    first = await club.post("once", nonce="1", enforce_nonce=True)
    assert await club.post("twice", nonce="1", enforce_nonce=True) == first
    assert (await club.post("other", nonce="2", enforce_nonce=True))["id"] != first["id"]


async def test_a_dm_needs_a_common_guild_and_open_dms(club: Club) -> None:
    path = f"/channels/{(await club.api('POST', '/users/@me/channels', {'recipient_id': club.ada.id}))['id']}/messages"
    assert await club.api.code("POST", path, {"content": "hello"}) == 0
    club.ada.user.takes_dms = False
    assert await club.api.code("POST", path, {"content": "hello"}) == 50007
    club.fake.removes(club.ada)
    club.ada.user.takes_dms = True
    assert await club.api.code("POST", path, {"content": "hello"}) == 50007


async def test_links_are_previewed_unless_in_brackets_or_flagged(club: Club) -> None:
    await club.post("see <https://a.example/quiet>")
    await club.post("see https://a.example/flagged", flags=NO_EMBEDS)
    assert club.fake.previews == []
    sent = await club.post("see [this](https://a.example/loud)")
    assert [url for _, url in club.fake.previews] == ["https://a.example/loud"]
    await club.api("PATCH", f"{club.path}/{sent['id']}", {"flags": NO_EMBEDS})
    assert club.shop.messages[sent["id"]].previews == []


async def test_a_file_is_served_while_its_signature_is_valid_and_its_message_there(club: Club) -> None:
    posted = await club.ada.says(club.shop, files=[File("a.txt", b"plan")])

    async def fetch(url: str) -> int:
        async with club.api.session.get(url) as response:
            return response.status

    async def current_url() -> str:
        return str((await club.api("GET", f"{club.path}/{posted.id}"))["attachments"][0]["url"])

    url = await current_url()
    assert [await fetch(url), await fetch(url.partition("?")[0]), await fetch(url[:-1])] == [200, 404, 404]
    club.fake.fail_next("GET", "/attachments", status=503)
    assert await fetch(url) == 503
    club.fake.clock.advance(25 * 3600)
    assert await fetch(url) == 404
    url = await current_url()
    assert await fetch(url) == 200
    await club.ada.deletes(posted)
    assert await fetch(url) == 404


async def test_mentions_ping_only_whom_they_may(api: Api) -> None:
    club = Club(api.fake, api, bot=Permission.ADMINISTRATOR)
    crew = club.fake.role(club.guild, "Crew")
    club.fake.gives(club.bob, crew)
    board = club.fake.channel(club.guild, "board", only=[club.ada])
    theirs = await club.ada.says(club.shop, "hello")
    ada, bob, role, reply = club.ada.mention, club.bob.mention, f"<@&{crew.id}>", {"message_id": theirs.id}
    table: list[tuple[str, Channel, dict[str, Any], set[str]]] = [
        (f"{ada} and {role}", club.shop, {}, {"Ada", "Bob"}),
        ("@everyone", club.shop, {}, {"Ada", "Bob", "Club owner"}),
        (f"@everyone {ada} {role}", club.shop, {"allowed_mentions": {"parse": []}}, set()),
        (f"{ada} @everyone", club.shop, {"allowed_mentions": {"parse": ["users"]}}, {"Ada"}),
        (f"`{ada}` ```@everyone```", club.shop, {}, set()),
        (bob, board, {}, set()),
        ("hello", club.shop, {"message_reference": reply}, {"Ada"}),
        ("hello", club.shop, {"message_reference": reply, "allowed_mentions": {"parse": []}}, set()),
        ("hello", club.shop, {"message_reference": reply, "allowed_mentions": {"replied_user": True}}, {"Ada"}),
    ]
    for text, channel, body, expected in table:
        club.fake.world.pings.clear()
        await api("POST", f"/channels/{channel.id}/messages", {"content": text} | body)
        assert {club.fake.world.users[user].name for ping in club.fake.pings for user in ping.users} == expected, text
    club.fake.overwrites(club.shop, club.guild.roles[club.guild.id], deny=Permission.MENTION_EVERYONE)
    assert not (await club.ada.says(club.shop, "@everyone look")).mention_everyone


async def test_an_archived_thread_wakes_for_messages_alone_and_a_locked_one_for_managers(club: Club) -> None:
    thread = await club.ada.opens_thread(await club.ada.says(club.shop, "topic"), "topic")
    path = f"/channels/{thread.id}/messages"
    mine = await club.api("POST", path, {"content": "hello"})
    club.fake.archives(thread)
    assert await club.api.code("PATCH", f"{path}/{mine['id']}", {"content": "x"}) == 50083
    assert await club.api.code("PUT", f"{path}/{mine['id']}/reactions/✅/@me") == 50083
    assert await club.api.code("POST", path, {"content": "awake"}) == 0
    assert not thread.facts.archived
    assert await club.api.code("PATCH", f"/channels/{thread.id}", {"archived": True}) == 50013
    club.fake.archives(thread, locked=True)
    assert await club.api.code("PATCH", f"/channels/{thread.id}", {"archived": False}) == 50013
    assert await club.api.code("POST", path, {"content": "locked"}) == 50083
    thread.facts.archived = False
    assert await club.api.code("POST", path, {"content": "locked"}) == 160005


async def test_threads_start_with_a_message_and_are_noted_in_their_channel(club: Club) -> None:
    older, newest = await club.ada.says(club.shop, "older"), await club.ada.says(club.shop, "newest")
    late, now = await club.ada.opens_thread(older, "late"), await club.ada.opens_thread(newest, "now")
    forum = club.fake.channel(club.guild, "ideas", "forum")
    post = await club.ada.posts(forum, "A kiln", "Shall we?")
    await club.ada.says(late, f"{club.bob.mention} look")
    assert (late.id, now.id, post.id) == (older.id, newest.id, post.channel.id)
    kinds = [message.kind for message in club.shop.messages.values()]
    assert kinds == [MessageType.DEFAULT, MessageType.DEFAULT, *[MessageType.THREAD_CREATED] * 2]
    assert next(iter(late.messages.values())).kind is MessageType.THREAD_STARTER
    assert (late.kind, club.bob.id in late.facts.members) == (ChannelType.PUBLIC_THREAD, True)


async def test_a_route_has_a_limit_per_channel_and_all_together_another(api: Api) -> None:
    api.fake.rates.rules[POST] = RateRule(5, 60.0)
    club = Club(api.fake, api)
    hall = club.fake.channel(club.guild, "hall")
    left = [(await club.post(), api.headers["X-RateLimit-Remaining"])[1] for _ in range(5)]
    refused = await club.post()
    assert (left, api.status, refused["global"]) == ([*"43210"], 429, False)
    assert (0 < refused["retry_after"] <= 60, api.headers["Via"], api.headers["X-RateLimit-Scope"]) == (
        True,
        "1.1 google",
        "user",
    )
    assert await api.code("POST", f"/channels/{hall.id}/messages", {"content": "x"}) == 0
    api.fake.rates.overall = RateRule(8, 60.0)
    refused = [await api("GET", "/users/@me") for _ in range(2)][-1]
    assert (api.status, refused["global"], api.headers["X-RateLimit-Global"]) == (429, True, "true")
    assert await api.code("POST", "/interactions/1/x/callback", {"type": 5}) == 10062


async def test_a_call_that_is_cut_was_not_done_and_a_lost_one_was(club: Club) -> None:
    for trouble, done in (("reset", 0), ("lost", 1)):
        club.fake.fail_next(*POST, trouble)  # type: ignore[arg-type]
        with pytest.raises(aiohttp.ClientError):
            await club.post(nonce="1", enforce_nonce=True)
        assert len(club.shop.messages) == done
    club.fake.fail_next(*POST, status=403, code=50013)
    assert await club.api.code("POST", club.path, {"content": "x"}) == 50013
    club.fake.fail_next(*POST, "hang")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(club.post(), 0.1)
