"""What a row of the table says of a capability holds at every door: who may, and that nothing happens otherwise."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from bot import texts
from bot.capabilities.asking.asker import resolve_rooms
from bot.capabilities.caller import Caller
from bot.capabilities.row import Capability, Surface
from bot.capabilities.row import Who as Least
from bot.capabilities.table import ROWS
from bot.rpc.service import LocalService
from bot.rpc.socket import serve_socket
from bot.store import Subject
from tests.bot.commands.conftest import ATTIC
from tests.support.builders import ROOF
from tests.surfaces.samples import WORDS
from tests.surfaces.world import CALLERS, SECRET, Who, World, open_world

pytestmark = pytest.mark.asyncio(loop_scope="module")
REFUSED = {"NotAllowed", "NotPermitted", "NotFound", "InvalidToken"}
NO_TOKENS: tuple[Who, ...] = ("owner", "page")
# Rows whose sample finds nothing: what is said then is as good as done.
NOTHING_THERE = {"remove-answer", "upload", "undo", "check-token", "revoke-token", "log-out", "confirm-retention"}
NOTHING_THERE |= {"add-source", "remove-source", "sync-source", "pause-source", "list-unread-items"}
NOTHING_THERE |= {"verify-receipt", "settle-contradiction", "dismiss-contradiction"}
ONCE = {"forget", "remove-expert", "split"}  # what is gone is gone
READING = {"corrections", "channels", "questions", "report", "channel", "usage", "health", "verified-answers"}
TOKEN_ROWS = [row for row in ROWS if row.permission is not None]
by_name = pytest.mark.parametrize("row", TOKEN_ROWS, ids=lambda each: each.name)
MEETS: dict[Least, set[Who]] = {
    Least.ANYONE: {"page", "manager", "expert", "author", "member", "guest", "space"},
    Least.CORRECTOR: {"page", "manager", "space"},
    Least.CHANNEL_MANAGER: {"manager"},
    Least.REVIEWER: {"manager", "expert"},
    Least.MANAGER: {"manager"},
    Least.AUDITOR: {"author"},
}


# Asked by a mention, given as a file, or completed while a name is typed.
UNTYPED = {"ask", "upload", "filters", "names"}
HUMANS: set[Who] = {"manager", "expert", "author", "member", "guest"}
SPACES: set[Who] = {"page", "space"}
# What the sample is about decides, too: the file is Cleo's, in a channel that Gus does not read and spaces do not have.
DONE: dict[str, set[Who]] = {
    **dict.fromkeys(("ask", "summarize", "entity", "subgraph", "provenance"), MEETS[Least.ANYONE] - {"guest"}),
    **{name: {"manager", *SPACES} for name in ("channels", "questions", "usage", "health", "list-sources")},
    **dict.fromkeys(("forget-me", "remember-me", "digest", "my-data", "export-my-data"), HUMANS),
    "experts": HUMANS - {"guest"},
    "rate-answer": HUMANS - {"guest"},
    **{name: {"manager"} for name in ("answer-actions", "ask-expert", "share-answer", "unshare-answer")},  # she asked
    "document": HUMANS - {"guest"},
    "shared-answer": HUMANS - {"guest"},
    "forget": {"manager", "author"},
    "add-fact": {*SPACES, *HUMANS} - {"guest"},
    "verified-answers": {"manager", "expert", *SPACES},
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with open_world(tmp_path_factory.mktemp("world")) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def fresh(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path / "home") as opened:
        yield opened


def is_reading(row: Capability) -> bool:
    """Whether a row changes nothing, so that tests may share a world; a question has quotas, and its answer is kept."""
    return row.permission == "read" or row.name in READING


def is_expected(row: Capability, who: Who) -> bool:
    """Whether a caller may do what the sample of a row asks, by the row and by nothing else."""
    return who not in {"stranger", "revoked", "weak"} and who in DONE.get(row.name, MEETS[row.who])


async def test_every_capability_has_a_sample(world: World) -> None:
    assert set(world.samples) == {row.name for row in ROWS}


@pytest.mark.share(2)
@by_name
async def test_whoever_may_not_do_it_is_refused_at_every_door_and_nothing_happens(
    world: World, row: Capability
) -> None:
    before = await world.describe_state()
    for who in CALLERS:
        if who == "owner" or is_expected(row, who):
            continue
        outcome = await world.run(row, who)
        if row.name in {"corrections", "duplicates"}:
            assert outcome in {"done", *REFUSED}  # a list of nothing
        else:
            assert outcome in REFUSED, who
        if who not in NO_TOKENS and world.samples[row.name].path:
            assert await world.call(row, who) == outcome, who
        if who not in NO_TOKENS and world.samples[row.name].tool:
            assert await world.call_tool(row, who) != "done", who
    assert await world.describe_state() == before


@pytest.mark.share(2)
@pytest.mark.parametrize("row", [row for row in TOKEN_ROWS if not is_reading(row)], ids=lambda each: each.name)
async def test_whoever_may_do_it_does_it_at_every_door(fresh: World, row: Capability) -> None:
    await do_at_every_door(fresh, row)


@pytest.mark.share(2)
@pytest.mark.parametrize("row", [*filter(is_reading, TOKEN_ROWS)], ids=lambda each: each.name)
async def test_whoever_may_read_it_reads_it_at_every_door_and_nothing_changes(world: World, row: Capability) -> None:
    before = await world.describe_state()
    await do_at_every_door(world, row)
    assert await world.describe_state() == before


async def do_at_every_door(world: World, row: Capability) -> None:
    for who in CALLERS:
        if who == "owner" or not is_expected(row, who) or (row.name == "forget" and who == "manager"):
            continue
        outcome = await world.run(row, who)
        assert outcome == "done" or row.name in NOTHING_THERE, f"{who}: {outcome}"
        if who in NO_TOKENS or row.name in ONCE:
            continue
        if world.samples[row.name].path:
            assert await world.call(row, who) == outcome
        if world.samples[row.name].tool:
            assert await world.call_tool(row, who) == "done"


PEOPLE_OF_THE_CHANNEL: tuple[Who, ...] = ("manager", "expert", "author", "member", "stranger")
CHAT_ROWS = [row for row in ROWS if row.name in WORDS]
# In the chat these are commands with an answer of their own: what they list is empty, or belongs to the channel.
ANSWERED_IN_CHAT = {"duplicates", "experts", "undo", "remove-answer"}


@pytest.fixture
def _without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.commands.status.can_render", lambda: False)
    monkeypatch.setattr("bot.commands.table.COMMANDS_PER_QUESTION", len(CHAT_ROWS) * len(PEOPLE_OF_THE_CHANNEL))


@pytest.mark.parametrize("row", CHAT_ROWS, ids=lambda each: each.name)
@pytest.mark.usefixtures("_without_pictures")
async def test_the_chat_refuses_whom_the_row_refuses_and_nothing_happens(world: World, row: Capability) -> None:
    before = await world.describe_state()
    for who in PEOPLE_OF_THE_CHANNEL:
        if not is_expected(row, who):
            outcome = await world.type_words(row, who)
            assert outcome in REFUSED or (row.name in ANSWERED_IN_CHAT and who != "stranger"), who
    assert await world.describe_state() == before


@pytest.mark.share(2)
@pytest.mark.parametrize("row", [row for row in CHAT_ROWS if not is_reading(row)], ids=lambda each: each.name)
@pytest.mark.usefixtures("_without_pictures")
async def test_the_chat_does_for_a_person_what_the_row_permits(fresh: World, row: Capability) -> None:
    await do_in_chat(fresh, row)


@pytest.mark.parametrize("row", [*filter(is_reading, CHAT_ROWS)], ids=lambda each: each.name)
@pytest.mark.usefixtures("_without_pictures")
async def test_the_chat_shows_a_person_what_the_row_permits(world: World, row: Capability) -> None:
    await do_in_chat(world, row)


async def do_in_chat(world: World, row: Capability) -> None:
    for who in PEOPLE_OF_THE_CHANNEL:
        if is_expected(row, who) and not (row.name == "forget" and who == "manager"):
            outcome = await world.type_words(row, who)
            assert outcome == "done" or row.name in NOTHING_THERE, f"{who}: {outcome}"


@pytest.mark.long
async def test_the_owner_does_at_the_terminal_what_the_table_offers_there(fresh: World) -> None:
    home = fresh.deps.engine.data_dir.path
    async with serve_socket(home, LocalService(fresh.deps).perform):
        for row in ROWS:
            if fresh.samples[row.name].argv:
                outcome = await fresh.run_program(row)
                expected = await fresh.run(row, "owner")
                assert (outcome == "done") is (expected == "done"), f"{row.name}: {outcome} {expected}"
                assert "Traceback" not in outcome


async def test_a_manager_has_a_file_of_others_forgotten(fresh: World) -> None:
    [row] = [each for each in ROWS if each.name == "forget"]
    assert await fresh.run(row, "manager") == "done"
    assert "minutes" not in await fresh.describe_state()


@pytest.mark.parametrize("row", [row for row in ROWS if row.permission is None], ids=lambda each: each.name)
async def test_what_is_for_the_owner_no_token_permits(world: World, row: Capability) -> None:
    before = await world.describe_state()
    for who in CALLERS:
        if who not in {"owner", "weak"}:
            assert await world.run(row, who) in {"NotPermitted", "InvalidToken"}
    assert await world.describe_state() == before


def without_audit(text: str) -> str:
    """A text without the lines of the audit log, which has an entry of each export."""
    return "\n".join(line for line in text.split("\n") if '"audit_entry"' not in line)


@by_name
async def test_nothing_of_the_closed_channel_reaches_those_who_cannot_read_it(world: World, row: Capability) -> None:
    sample = world.samples[row.name]
    if sample.method != "GET":
        return
    for who in ("expert", "author", "member", "guest", "space"):
        headers = {"Authorization": f"Bearer {await world.get_token(who)}"}
        shown = await world.http.get(sample.path.replace("Mina", SECRET).replace("Mi", SECRET[:2]), headers=headers)
        unknown = await world.http.get(sample.path.replace("Mina", "Xyzzy").replace("Mi", "Xy"), headers=headers)
        assert "agate" not in shown.text
        assert shown.status_code == unknown.status_code
        first, second = map(without_audit, (shown.text, unknown.text))
        assert first.replace(SECRET, "").replace("Zi", "") == second.replace("Xyzzy", "").replace("Xy", "")


async def test_the_name_of_a_channel_that_cannot_be_read_is_unknown(world: World) -> None:
    store = (await world.deps.parts.open()).store
    assert await store.channels.find_rooms("slack", "T1", names={"attic"}, ids=()) == [ATTIC.room]
    for person, known in (("ada", {ATTIC.room}), ("dan", set())):
        access = (await world.deps.parts.open()).access
        subject = Subject("slack", "T1", person)
        caller = Caller("person", subject, (await access.resolve_scope(subject)).scope)
        assert await resolve_rooms(world.deps, caller, "attic") == known
        assert await resolve_rooms(world.deps, caller, "roof") == {ROOF.room}


async def test_http_offers_what_the_table_says_and_nothing_else(world: World) -> None:
    described = (await world.http.get("/api/v1/openapi.json")).json()["paths"]
    templates = {
        (method.upper(), re.compile(re.sub(r"\{[^}]+\}", "[^/?]+", path) + r"(\?.*)?"))
        for path, methods in described.items()
        for method in methods
    }
    sampled = [(world.samples[row.name].method, world.samples[row.name].path) for row in ROWS]
    offered = {
        (method, pattern.pattern)
        for method, pattern in templates
        if any(method == each and pattern.fullmatch(path) for each, path in sampled)
    }
    others = {(method, pattern.pattern) for method, pattern in templates} - offered
    assert {path.removesuffix(r"(\?.*)?") for _, path in others} == {
        *("/api/v1/query/stream", "/api/v1/query/data", "/api/v1/graph/relation", "/api/v1/documents"),
        *("/api/v1/health", "/v1/models", "/v1/chat/completions"),
    }
    for row in ROWS:
        if world.samples[row.name].path:
            assert Surface.HTTP in row.surfaces, row.name
        assert bool(world.samples[row.name].words) == (Surface.CHAT in row.surfaces) or row.name in UNTYPED, row.name
        assert bool(world.samples[row.name].argv) == (Surface.CLI in row.surfaces) or row.name in UNTYPED, row.name
        assert bool(world.samples[row.name].tool) == (Surface.MCP in row.surfaces) or row.name == "document", row.name


@pytest.mark.share(3)
@pytest.mark.parametrize("order", ["chat http mcp", "mcp chat http", "http http chat"])
async def test_the_eleventh_question_in_a_minute_is_refused_whichever_door_it_comes_through(
    tmp_path: Path, order: str
) -> None:
    async with open_world(tmp_path / "home", questions_per_minute=10) as world:
        [ask] = [row for row in ROWS if row.name == "ask"]
        doors = {"chat": world.ask_in_chat, "http": world.call, "mcp": world.call_tool}
        asked = [order.split()[number % 3] for number in range(10)]
        assert [await doors[door](ask, "member") for door in asked] == ["done"] * 10
        assert await world.ask_in_chat(ask, "member") == texts.TOO_MANY_QUESTIONS
        assert await world.call(ask, "member") == "TooManyRequests"
        assert texts.TOO_MANY_QUESTIONS in await world.call_tool(ask, "member")
        assert await world.call(ask, "author") == "done"  # it is a limit of a person


async def test_the_commands_of_a_person_are_limited_as_the_requests_of_a_token(fresh: World) -> None:
    [status] = [row for row in ROWS if row.name == "status"]
    assert [await fresh.type_words(status, "member") for _ in range(31)] == ["done"] * 30 + ["TooManyRequests"]
    assert await fresh.type_words(status, "author") == "done"
