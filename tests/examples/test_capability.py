"""One module and one row offer a capability at every door, within what its caller may read."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import discord
import httpx
import pytest
import typer.main
from mcp.client import Client

from adapters.discord.interactions.commands import build_command_tree
from adapters.mcp.server import build_server
from adapters.web.app import build_app, build_routes
from bot.__main__ import app
from bot.capabilities.plugins import DOOR_NAMES, GROUP, load_rows
from bot.capabilities.row import Capability, Surface, Who
from bot.capabilities.table import ROWS, list_rows
from bot.commands.table import COMMANDS, MENU_COMMANDS
from bot.errors import BadSetting
from bot.rpc import codec
from bot.rpc.service import LocalService
from bot.server import serve
from engine.clock import SYSTEM_CLOCK
from tests.support.plain_settings import plain_settings
from tests.surfaces.world import LOCAL, SECRET, World, open_world

EXAMPLE = Path(__file__).parents[2] / "examples" / "capability"
CACHES = (build_routes, list_rows, codec._list_request_types, codec._list_inner_types)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The example as an installed package: its module, and what an installer writes beside it."""
    folder = tmp_path / "packages"
    info = folder / "threadlore_glossary-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: threadlore-glossary\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[threadlore.capabilities]\nglossary = glossary_capability:list_rows\n")
    (folder / "glossary_capability").symlink_to(EXAMPLE / "glossary_capability")
    monkeypatch.syspath_prepend(folder)
    for cache in CACHES:
        cache.cache_clear()
    yield folder
    for cache in CACHES:
        cache.cache_clear()


@pytest.fixture
async def world(installed: Path, tmp_path: Path) -> AsyncIterator[World]:
    del installed
    async with open_world(tmp_path / "home") as opened:
        yield opened


async def test_it_is_a_route_of_the_api(world: World) -> None:
    service = LocalService(world.deps)
    transport = httpx.ASGITransport(build_app(service, service.clock), raise_app_exceptions=False)

    async def call(who: str, body: object) -> httpx.Response:
        headers = {"Authorization": f"Bearer {await world.get_token(who)}"}  # type: ignore[arg-type]
        return await http.post("/api/v1/glossary", json=body, headers=headers)

    async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as http:
        names = {who: str((await call(who, {})).json()["rows"]) for who in ("manager", "member", "space")}
        assert "Mina" in names["member"]
        assert (SECRET in names["manager"], SECRET in names["member"], SECRET in names["space"]) == (True, False, False)
        assert [row[0] for row in (await call("member", {"start": "mi", "limit": 1})).json()["rows"]] in (
            ["Mina"],
            ["Mino"],
        )
        assert [(await call("member", each)).status_code for each in ({"limit": 0}, {"word": "x"})] == [422, 422]
        assert (await call("revoked", {})).status_code == 401
        described = (await http.get("/api/v1/openapi.json")).json()["paths"]["/api/v1/glossary"]["post"]
    assert "begin with these letters" in described["description"]


@pytest.mark.long
async def test_it_is_a_tool(world: World) -> None:
    service = LocalService(world.deps)
    async with Client(build_server(service, service.clock, await world.get_token("member"), LOCAL)) as client:
        tool = next(each for each in (await client.list_tools()).tools if each.name == "glossary")
        found = await client.call_tool("glossary", {"start": "Mi"})
        refused = await client.call_tool("glossary", {"limit": 1000})
    assert set(tool.input_schema["properties"]) == {"start", "limit"}
    assert "Mina" in str(found.content)
    assert SECRET not in str(found.content)
    assert refused.is_error


async def test_it_is_a_command_of_the_chat(world: World) -> None:
    shown = await world.workspace.text("dan", "glossary Mi 5")
    assert "Mina" in shown
    assert SECRET not in shown
    assert SECRET in await world.workspace.text("ada", "glossary")
    assert "glossary" in await world.workspace.text("dan", "help")
    assert "letters" in await world.workspace.text("dan", "help glossary")
    commands = build_command_tree(discord.Client(intents=discord.Intents(guilds=True))).get_commands()
    [command] = [each for each in commands if each.name == "glossary"]
    assert isinstance(command, discord.app_commands.Command)
    assert [parameter.name for parameter in command.parameters] == ["words"]


def run_program(packages: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What the program prints where these packages are installed."""
    code = f"import sys; sys.path.insert(0, {str(packages)!r}); import bot.__main__ as m; sys.argv[1:] = {[*words]!r}"
    return subprocess.run(
        [sys.executable, "-c", f"{code}; m.main()", "x"],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={"THREADLORE_DATA_DIR": str(home / "data"), "PATH": "", "HOME": str(home)},
    )


@pytest.mark.long
def test_it_is_a_command_of_the_terminal(installed: Path, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("Mina met Otto at the Gudgeon. Mina sells the tickets.")

    def threadlore(*words: str) -> str:
        done = run_program(installed, tmp_path, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "mentioned most" in threadlore("--help")
    threadlore("ingest", str(note))
    assert "Mina" in threadlore("glossary", "--start", "Mi")
    assert json.loads(threadlore("glossary", "--json"))["columns"] == ["Name", "Type", "Mentions"]


def test_a_name_that_exists_is_refused(installed: Path) -> None:
    del installed
    [row] = load_rows(ROWS)
    for taken in (row, replace(ROWS[0], name="glossary"), replace(row, name="other")):
        with pytest.raises(BadSetting, match="“glossary”"):
            load_rows([taken])


@pytest.mark.long
async def test_no_package_takes_a_name_that_a_door_has(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    service, prefix = LocalService(world.deps), "/api/v1/"
    tools = await build_server(service, service.clock, None).list_tools()
    paths = build_app(service, service.clock).openapi()["paths"]
    names = {*COMMANDS, *MENU_COMMANDS, *typer.main.get_group(app).commands, *(tool.name for tool in tools)}
    names |= {path.removeprefix(prefix).split("/")[0] for path in paths if path.startswith(prefix)}
    assert names - {row.name for row in list_rows()} == DOOR_NAMES - {"openapi.json"}
    taking = EntryPoint("taking", "tests.examples.test_capability:list_taking", GROUP)
    monkeypatch.setattr("bot.capabilities.plugins.entry_points", lambda **_: [taking])
    with pytest.raises(BadSetting, match="“serve”"):
        load_rows(ROWS)


def list_taking() -> list[Capability]:
    return [Capability("serve", EntryPoint, "tests:none", Surface.CLI)]


@pytest.mark.parametrize("who", [Who.CORRECTOR, Who.REVIEWER])
def test_rights_that_no_door_checks_are_refused(installed: Path, monkeypatch: pytest.MonkeyPatch, who: Who) -> None:
    del installed
    [row] = load_rows(ROWS)
    monkeypatch.setattr("glossary_capability.list_rows", lambda: [replace(row, who=who)])
    with pytest.raises(BadSetting, match="leaves it to itself who may use “glossary”"):
        load_rows(ROWS)


@pytest.fixture
def broken(installed: Path) -> Path:
    """The package says that it has a function which it lacks."""
    (installed / "threadlore_glossary-0.1.0.dist-info" / "entry_points.txt").write_text(
        "[threadlore.capabilities]\nglossary = glossary_capability:missing\n"
    )
    return installed


async def test_a_package_that_cannot_be_loaded_is_named_when_the_bot_starts(broken: Path, tmp_path: Path) -> None:
    del broken
    with pytest.raises(BadSetting, match="“glossary_capability:missing” cannot be loaded"):
        await serve(plain_settings(data_dir=tmp_path), asyncio.Event(), SYSTEM_CLOCK, ("slack",))


@pytest.mark.long
def test_the_terminal_names_a_broken_package_and_does_what_it_can(broken: Path, tmp_path: Path) -> None:
    done = run_program(broken, tmp_path, "--help")
    assert (done.returncode, "ingest" in done.stdout, "glossary" in done.stdout) == (0, True, False)
    assert "“glossary_capability:missing” cannot be loaded" in done.stderr
    assert "Update the package, or remove it." in done.stderr
    assert "Traceback" not in done.stderr
