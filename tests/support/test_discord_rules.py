"""What the fake Discord refuses, hides and counts: a fake that accepts everything proves nothing."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from tests.support.discord_server import FakeDiscord, File, Permission, Person
from tests.support.discord_server.faults import RateRule
from tests.support.discord_server.people.client import ActionUnavailable

READ_WRITE = Permission.VIEW_CHANNEL | Permission.SEND_MESSAGES | Permission.READ_MESSAGE_HISTORY
NO_EMBEDS, EPHEMERAL = 4, 64  # flags of messages
LONG, SHORT = "BASE_TYPE_MAX_LENGTH", "BASE_TYPE_BAD_LENGTH"
POST = ("POST", "/channels/{channel}/messages")
MESSAGE = "/channels/{channel}/messages/{message}"
ASK = {"name": "ask", "description": "Ask", "options": [{"type": 3, "name": "question", "description": "What"}]}
SETTINGS = {"name": "settings", "description": "Set", "default_member_permissions": str(int(Permission.MANAGE_GUILD))}


def reply_to(message: str) -> dict[str, Any]:
    return {"content": "x", "message_reference": {"message_id": message}}


class Club:
    """A guild with a channel, two people in it, and bare calls of the app; `status` and `headers` are of the last."""

    def __init__(self, fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
        self.fake, self.session = fake, session
        self.status, self.headers = 0, dict[str, str]()
        self.guild = fake.guild("Club", bot=READ_WRITE)
        self.shop = fake.channel(self.guild, "shop")
        self.ada, self.bob = fake.member(self.guild, "Ada"), fake.member(self.guild, "Bob")
        self.path = f"/channels/{self.shop.id}/messages"

    async def call(self, method: str, path: str, body: Any = None, file: bytes = b"") -> Any:
        data = aiohttp.FormData({"payload_json": json.dumps(body)}, quote_fields=False)
        data.add_field("files[0]", io.BytesIO(file), filename="a.txt")
        headers, sent = {"Authorization": f"Bot {self.fake.token}"}, {"data": data} if file else {"json": body}
        async with self.session.request(method, self.fake.api + path, headers=headers, **sent) as response:
            self.status, self.headers = response.status, dict(response.headers)
            return await response.json() if response.status != 204 else None

    async def code(self, method: str, path: str, body: Any = None, file: bytes = b"") -> int:
        """The code of a refusal; 0: not refused."""
        answer = await self.call(method, path, body, file)
        return int(answer["code"]) if self.status >= 400 else 0

    async def invalid_field(self, method: str, path: str, body: Any) -> tuple[str, str]:
        """The path of the field that is refused, and the error."""
        errors, names = (await self.call(method, path, body))["errors"], []
        while "_errors" not in errors:
            ((name, errors),) = errors.items()
            names.append(name)
        return ".".join(names), errors["_errors"][0]["code"]

    async def post(self, content: str = "hello", **body: Any) -> Any:
        return await self.call("POST", self.path, {"content": content} | body)

    def deny(self, power: Permission) -> None:
        """Take one permission from the app."""
        self.fake.overwrites(self.shop, self.fake.bot(self.guild), deny=power)

    async def respond(self, person: Person, kind: int = 5, **data: Any) -> tuple[Any, str, str]:
        """Let a person use /ask and respond; gives the interaction, and the paths of its callback and its webhook."""
        await self.call("PUT", f"/applications/{self.fake.world.app.id}/commands", [ASK, SETTINGS])
        using = asyncio.create_task(person.slash("ask", here=self.shop, question="why?"))
        await self.fake.wait_for(
            lambda: any(not interaction.response for interaction in self.fake.world.interactions.values())
        )
        used = list(self.fake.world.interactions.values())[-1]
        callback = f"/interactions/{used.id}/{used.token}/callback"
        await self.call("POST", callback, {"type": kind, "data": data})
        await using
        return used, callback, f"/webhooks/{self.fake.world.app.id}/{used.token}"


@pytest.fixture
async def club() -> AsyncIterator[Club]:
    async with FakeDiscord() as fake, aiohttp.ClientSession() as session:
        yield Club(fake, session)


@pytest.mark.parametrize(
    ("lacking", "method", "path", "body", "code"),
    [
        (Permission.VIEW_CHANNEL, *POST, {"content": "x"}, 50001),
        (Permission.SEND_MESSAGES, *POST, {"content": "x"}, 50013),
        (
            Permission.READ_MESSAGE_HISTORY,
            *POST,
            reply_to("MESSAGE"),
            160002,
        ),
        (Permission.READ_MESSAGE_HISTORY, "GET", POST[1], None, 0),
        (Permission.READ_MESSAGE_HISTORY, "GET", MESSAGE, None, 50001),
        (Permission.READ_MESSAGE_HISTORY, "GET", "/channels/{channel}/threads/archived/public", None, 50013),
        (Permission.ADD_REACTIONS, "PUT", f"{MESSAGE}/reactions/✅/@me", None, 50013),
        (Permission.CREATE_PUBLIC_THREADS, "POST", f"{MESSAGE}/threads", {"name": "x"}, 50013),
        (Permission.MANAGE_MESSAGES, "DELETE", MESSAGE, None, 50013),
        (Permission.MANAGE_CHANNELS, "DELETE", "/channels/{channel}", None, 50013),
        (Permission.ATTACH_FILES, *POST, {"files": 1}, 50013),
    ],
    ids=lambda value: value.name or "" if isinstance(value, Permission) else "",
)
async def test_a_call_without_its_permission_is_refused(
    club: Club, lacking: Permission, method: str, path: str, body: Any, code: int
) -> None:
    said = await club.ada.says(club.shop, "hello")
    file = b"x" if body == {"files": 1} else b""
    body = None if file else json.loads(json.dumps(body).replace("MESSAGE", said.id))
    club.deny(lacking)
    assert await club.code(method, path.format(channel=club.shop.id, message=said.id), body or {}, file) == code
    assert lacking is not Permission.READ_MESSAGE_HISTORY or await club.call("GET", club.path) == []


async def test_what_is_not_there_or_not_the_apps_is_refused(club: Club) -> None:
    gone, theirs = await club.ada.says(club.shop, "gone"), await club.ada.says(club.shop, "theirs")
    thread, forum = await club.ada.opens_thread(theirs, "topic"), club.fake.channel(club.guild, "ideas", "forum")
    await club.ada.deletes(gone)
    starter = next(iter(thread.messages))
    for method, path, body, code in (
        ("GET", "/nowhere", None, 0),
        ("GET", "/channels/123", None, 10003),
        ("GET", "/guilds/123", None, 10004),
        ("GET", "/users/123", None, 10013),
        ("GET", f"/guilds/{club.guild.id}/members/{club.fake.user('Eve').id}", None, 10007),
        ("GET", f"{club.path}/{gone.id}", None, 10008),
        ("PUT", f"{club.path}/{theirs.id}/reactions/tick/@me", None, 10014),
        ("DELETE", f"{club.path}/{theirs.id}/reactions/✅/@me", None, 10014),
        ("PATCH", f"{club.path}/{theirs.id}", {"content": "x"}, 50005),
        ("POST", club.path, {"content": " \n "}, 50006),
        ("PATCH", f"{club.path}/{(await club.post())['id']}", {"content": ""}, 50006),
        ("GET", f"{club.path}?limit=101", None, 50035),
        (
            "POST",
            f"/channels/{thread.id}/messages",
            reply_to(starter),
            50035,
        ),
        ("POST", f"{club.path}/{theirs.id}/threads", {"name": "again"}, 160004),
        ("POST", f"/channels/{thread.id}/messages/{starter}/threads", {"name": "inside"}, 50024),
        ("POST", f"/channels/{club.shop.id}/threads", {"name": "x"}, 50024),
        ("POST", f"/channels/{forum.id}/messages", {"content": "x"}, 50008),
        ("GET", f"/channels/{forum.id}/messages", None, 50008),
    ):
        assert await club.code(method, path, body) == code, (method, path)
    assert await club.code("POST", club.path, {}, b"x" * (10 * 2**20 + 1)) == 40005


def buttons(*each: dict[str, Any], rows: int = 1) -> dict[str, Any]:
    row = [{"type": 2, "style": 1, "label": "x", "custom_id": "x"} | parts for parts in each]
    return {"components": [{"type": 1, "components": row}] * rows}


@pytest.mark.parametrize(
    ("body", "field", "error"),
    [
        ({"content": "x" * 2001}, "content", LONG),
        ({"nonce": "x" * 26}, "nonce", LONG),
        ({"attachments": [{"id": 0, "description": "x" * 1025}]}, "attachments.0.description", LONG),
        (buttons({}, rows=6), "components", LONG),
        (buttons(*[{}] * 6), "components.0.components", LONG),
        (buttons({"label": "x" * 81}), "components.0.components.0.label", LONG),
        (buttons({"custom_id": "x" * 101}), "components.0.components.0.custom_id", LONG),
        (buttons({"custom_id": ""}), "components.0.components.0.custom_id", SHORT),
        (buttons({}, {}), "components", "COMPONENT_CUSTOM_ID_DUPLICATED"),
        ({"message_reference": {"message_id": "1"}}, "message_reference", "REPLIES_UNKNOWN_MESSAGE"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_message_beyond_a_limit_is_refused(club: Club, body: dict[str, Any], field: str, error: str) -> None:
    assert await club.invalid_field("POST", club.path, {"content": "x"} | body) == (field, error)
    assert club.shop.messages == {}


async def test_a_command_beyond_a_limit_is_refused_and_a_message_within_is_stored_trimmed(club: Club) -> None:
    path, choices = f"/applications/{club.fake.world.app.id}/commands", [{"name": "x" * 90, "value": "x"}] * 25
    options = [{"type": 3, "name": "o", "description": "x", "choices": choices}] * 4
    for changes, field, error in (
        ({"description": "x" * 101}, "commands.0.description", LONG),
        ({"options": [{"type": 3, "name": "o", "description": ""}]}, "commands.0.options.0.description", SHORT),
        ({"options": options}, "commands.0", "APPLICATION_COMMAND_TOO_LARGE"),
    ):
        assert await club.invalid_field("PUT", path, [ASK | changes]) == (field, error)
    five = buttons(*[{"custom_id": f"{at}".ljust(100, "x")} for at in range(5)])
    sent = await club.post(f" {'x' * 2000}\n", **five)
    assert (club.status, sent["content"], sent["components"]) == (200, "x" * 2000, five["components"])


async def test_a_nonce_that_is_enforced_returns_the_message_that_is_there(club: Club) -> None:
    first = await club.post("once", nonce="1", enforce_nonce=True)
    assert await club.post("twice", nonce="1", enforce_nonce=True) == first
    assert (await club.post("other", nonce="2", enforce_nonce=True))["id"] != first["id"]


async def test_a_dm_needs_a_common_guild_and_open_dms(club: Club) -> None:
    path = f"/channels/{club.fake.dm(club.ada).id}/messages"
    club.ada.user.takes_dms = False
    assert await club.code("POST", path, {"content": "hello"}) == 50007
    club.ada.user.takes_dms = True
    assert await club.code("POST", path, {"content": "hello"}) == 0
    club.fake.removes(club.ada)
    assert await club.code("POST", path, {"content": "hello"}) == 50007


async def test_links_are_previewed_unless_in_brackets_or_flagged(club: Club) -> None:
    await club.post("see <https://a.example/quiet>")
    await club.post("see https://a.example/flagged", flags=NO_EMBEDS)
    assert club.fake.previews == []
    await club.post("see [this](https://a.example/loud)")
    assert [url for _, url in club.fake.previews] == ["https://a.example/loud"]


async def test_a_file_is_served_while_its_signature_is_valid_and_its_message_there(club: Club) -> None:
    posted = await club.ada.says(club.shop, files=[File("a.txt", b"plan")])

    async def status(cut: int = 0) -> int:
        url = (await club.call("GET", f"{club.path}/{posted.id}"))["attachments"][0]["url"]
        async with club.session.get(url[: len(url) - cut]) as response:
            return response.status

    assert [await status(), await status(1)] == [200, 404]
    file = posted.attachments[0]
    file.gone = True
    assert await status() == 404


async def test_mentions_ping_only_whom_they_may(club: Club) -> None:
    club.fake.overwrites(club.shop, club.fake.bot(club.guild), allow=Permission.MENTION_EVERYONE)
    theirs, ada = await club.ada.says(club.shop, "hello"), club.ada.mention
    reply = reply_to(theirs.id)
    for text, body, expected in (
        (f"{ada} and @everyone", {}, {"Ada", "Bob", "Club owner"}),
        (f"{ada} and @everyone", {"allowed_mentions": {"parse": []}}, set()),
        (f"`{ada}` ```@everyone```", {}, set()),
        ("x", reply, {"Ada"}),
        ("x", reply | {"allowed_mentions": {"parse": []}}, set()),
    ):
        club.fake.world.pings.clear()
        await club.post(**{"content": text} | body)
        assert {club.fake.world.users[user].name for ping in club.fake.pings for user in ping.users} == expected, text


async def test_an_archived_thread_wakes_for_messages_alone_and_a_locked_one_for_managers(club: Club) -> None:
    thread = await club.ada.opens_thread(await club.ada.says(club.shop, "topic"), "topic")
    path = f"/channels/{thread.id}/messages"
    mine = await club.call("POST", path, {"content": "hello"})
    club.fake.archives(thread)
    assert await club.code("PATCH", f"{path}/{mine['id']}", {"content": "x"}) == 50083
    assert await club.code("PUT", f"{path}/{mine['id']}/reactions/✅/@me") == 50083
    assert await club.code("POST", path, {"content": "awake"}) == 0
    assert not thread.facts.archived
    assert await club.code("PATCH", f"/channels/{thread.id}", {"archived": True}) == 50013
    club.fake.archives(thread, locked=True)
    assert await club.code("PATCH", f"/channels/{thread.id}", {"archived": False}) == 50013
    assert await club.code("POST", path, {"content": "locked"}) == 50083


async def test_a_route_has_a_limit_per_channel_and_all_together_another(club: Club) -> None:
    club.fake.rates.rules[POST] = RateRule(2, 60.0)
    left = [(await club.post(), club.headers["X-RateLimit-Remaining"])[1] for _ in range(2)]
    refused = await club.post()
    assert (left, club.status, refused["global"], club.headers["Via"]) == (["1", "0"], 429, False, "1.1 google")
    assert 0 < refused["retry_after"] <= 60
    hall = club.fake.channel(club.guild, "hall")
    assert await club.code("POST", f"/channels/{hall.id}/messages", {"content": "x"}) == 0
    club.fake.rates.overall = RateRule(4, 60.0)
    assert (await club.call("GET", "/users/@me"))["global"]
    assert await club.code("POST", "/interactions/1/x/callback", {"type": 5}) == 10062
    club.fake.clock.advance(60.0)
    assert (await club.code("GET", "/users/@me"), (await club.post())["content"]) == (0, "hello")


async def test_a_call_that_is_cut_was_not_done_and_a_lost_one_was(club: Club) -> None:
    for trouble, done in (("reset", 0), ("lost", 1)):
        club.fake.fail_next(*POST, trouble)  # type: ignore[arg-type]
        with pytest.raises(aiohttp.ClientError):
            await club.post(nonce="1", enforce_nonce=True)
        assert len(club.shop.messages) == done


async def test_a_response_is_given_once_in_time_and_seen_by_its_reader_alone(club: Club) -> None:
    used, callback, hook = await club.respond(club.ada, flags=EPHEMERAL)
    assert await club.code("POST", callback, {"type": 5}) == 40060
    assert await club.code("POST", callback.replace(used.token, "x"), {"type": 5}) == 10062
    assert await club.code("POST", hook, {"content": ""}) == 50006
    for text in ("filled", "for all"):
        await club.call("POST", hook, {"content": text})
    seen = [[post.content for post in club.fake.sees(each, club.shop).posts] for each in (club.ada, club.bob)]
    assert seen == [["filled", "for all"], ["for all"]]
    assert await club.code("PATCH", f"{club.path}/{used.original.id}", {"content": "x"}) == 10008
    club.fake.clock.advance(15 * 60 - 5)
    assert await club.code("PATCH", f"{hook}/messages/@original", {"content": "in time"}) == 0
    club.fake.clock.advance(10)
    assert await club.code("PATCH", f"{hook}/messages/@original", {"content": "too late"}) == 50027


async def test_a_late_or_unfitting_response_is_refused(club: Club, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.discord_server.people.client.PATIENCE_SECONDS", 0.05)
    used, callback, hook = await club.respond(club.ada, kind=8)
    assert (club.status, used.error) == (400, "The application did not respond")
    assert await club.code("POST", callback, {"type": 5}) == 10062
    assert await club.code("POST", hook, {"content": "x"}) == 10015
    used.error = ""
    club.fake.clock.advance(3.1)
    assert await club.code("POST", callback, {"type": 5}) == 10062


async def test_people_do_and_see_only_what_their_client_offers(club: Club) -> None:
    fake, ada, bob = club.fake, club.ada, club.bob
    used, *_ = await club.respond(ada, kind=4, content="x", **buttons({"disabled": True}))
    board = fake.channel(club.guild, "board", only=[ada])
    secret = await ada.says(board, "the budget is 900")
    assert fake.sees(bob, board).hidden
    for unavailable in (
        *(bob.says(board, "hello"), bob.edits(secret, "changed"), bob.deletes(secret), bob.clicks(secret, "x")),
        *(ada.clicks(used.original, "x"), ada.slash("nothing", here=club.shop), ada.slash("settings", here=club.shop)),
        ada.slash("ask", here=club.shop, question="x", other="y"),
    ):
        with pytest.raises(ActionUnavailable):
            await unavailable
    fake.overwrites(club.shop, ada, deny=Permission.READ_MESSAGE_HISTORY)
    assert fake.sees(ada, club.shop).posts == ()
