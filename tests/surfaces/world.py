"""A small workspace, its documents, and everyone who asks there, at each door."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal

import httpx
from mcp.client import Client
from typer.testing import CliRunner

from adapters.mcp.server import build_server
from adapters.web.app import build_app
from bot.__main__ import app
from bot.answers.question import request_from_command
from bot.capabilities.access.control import AccessControl
from bot.capabilities.deps import Deps, RunningParts
from bot.capabilities.requests import AtSpace, Authorized, Envelope, OperationRequest, WithoutLogin
from bot.capabilities.results import OperationResult
from bot.capabilities.row import Capability
from bot.capabilities.row import Who as Least
from bot.capabilities.run import run
from bot.commands.management.table import perform_management
from bot.monitoring.report import BotState
from bot.permissions.askers import Quotas
from bot.platform.events import QuestionAsked
from bot.platform.models import Location, Person
from bot.rpc.service import LocalService
from bot.store import PERMISSIONS, AnswerResult, Expert, FileRecord, Permission, Subject
from engine.errors import EngineError
from engine.models import Document, Passage
from tests.bot.commands.conftest import ATTIC, RecordingAnswers, Workspace
from tests.support.bot_fixture import open_bot
from tests.support.builders import ROOF, make_answer
from tests.support.fake_platform import START
from tests.surfaces.samples import Sample, build_samples

Who = Literal["owner", "page", "manager", "expert", "author", "member", "guest", "stranger", "space", "revoked", "weak"]
CALLERS: tuple[Who, ...] = (
    *("owner", "page", "manager", "expert", "author", "member", "guest", "stranger", "space", "revoked", "weak"),
)
PEOPLE = {"manager": "ada", "expert": "bob", "author": "cleo", "member": "dan", "guest": "gus", "stranger": "eve"}
LOCAL = "console:local"
SECRET = "Zircon"


@dataclass(frozen=True, slots=True)
class RunningBot:
    """What a bot that runs does for the managers of its workspace."""

    workspace: Workspace

    def perform_management(self, subject: Subject, request: Any) -> AsyncGenerator[OperationResult]:
        return perform_management(self.workspace, subject, request)  # type: ignore[arg-type]

    async def get_state(self) -> BotState:
        return BotState()


@dataclass
class World:
    """The workspace, its services and tokens, and what a sample of each capability asks."""

    workspace: Workspace
    deps: Deps
    http: httpx.AsyncClient
    samples: dict[str, Sample]
    tokens: dict[Who, str] = field(default_factory=dict)

    async def get_token(self, who: Who) -> str:
        """The token of a caller; one that is weak lacks all but a permission that the sample does not need."""
        if who not in self.tokens:
            access = (await self.deps.parts.open()).access
            subject = Subject("slack", "T1", PEOPLE[who]) if who in PEOPLE else Subject(space=LOCAL)
            token, text = await access.create_token(who, subject, PERMISSIONS, 100_000, None)
            if who == "revoked":
                await access.revoke_token(token.id)
            self.tokens[who] = text
        return self.tokens[who]

    async def create_weak_token(self, row: Capability) -> str:
        """The token of a manager that permits everything but what a capability needs."""
        access = (await self.deps.parts.open()).access
        needed = {row.permission, "manage"} if row.who is Least.REVIEWER else {row.permission}
        others: tuple[Permission, ...] = tuple(permission for permission in PERMISSIONS if permission not in needed)
        return (await access.create_token("weak", Subject("slack", "T1", "ada"), others, 100_000, None))[1]

    async def wrap(self, row: Capability, who: Who) -> OperationRequest:
        """The sample of a capability, with who asks it."""
        request = self.samples[row.name].request
        match who:
            case "owner":
                return AtSpace(LOCAL, request)
            case "page":
                return WithoutLogin(LOCAL, request)
            case "weak":
                return Authorized(await self.create_weak_token(row), request)
        return Authorized(await self.get_token(who), request)

    async def run(self, row: Capability, who: Who) -> str:
        """What comes of a sample: "done", or the name of the error."""
        request = await self.wrap(row, who)
        assert isinstance(request, Envelope)
        try:
            async with aclosing(run(self.deps, request)) as results:
                async for _ in results:
                    pass
        except EngineError as error:
            return type(error).__name__
        return "done"

    async def call(self, row: Capability, who: Who) -> str:
        """What comes of a sample over HTTP: "done", or the name of the problem."""
        sample = self.samples[row.name]
        token = await (self.create_weak_token(row) if who == "weak" else self.get_token(who))
        response = await self.http.request(
            sample.method, sample.path, json=sample.body, headers={"Authorization": f"Bearer {token}"}
        )
        assert response.status_code != 500, response.text
        return "done" if response.is_success else str(json.loads(response.text)["title"])

    async def type_words(self, row: Capability, who: Who) -> str:
        """What comes of a sample as a command of the chat, in the open channel: "done", or the name of the error."""
        try:
            await self.workspace.run(PEOPLE[who], self.samples[row.name].words)
        except EngineError as error:
            return type(error).__name__
        return "done"

    async def ask_in_chat(self, _: Capability, who: Who) -> str:
        """What comes of a question in the open channel: "done", or the words that refuse it."""
        bot, before = self.workspace.bot, len(self.workspace.bot.platform.private_messages)
        asked = QuestionAsked(token_hex(4), ROOF, PEOPLE[who], "When do the tiles come?", START)
        await bot.answer_service.answer(request_from_command(asked))
        return " ".join(card.text for _, card in bot.platform.private_messages[before:]) or "done"

    async def run_program(self, row: Capability) -> str:
        """What comes of a sample as a command of the owner: "done", or what the program says instead."""
        home = str(self.deps.engine.data_dir.path)
        words = ["--data-dir", home, *self.samples[row.name].argv]
        result = await asyncio.to_thread(CliRunner().invoke, app, words, env={"COLUMNS": "200"})
        return "done" if result.exit_code == 0 else result.output

    async def call_tool(self, row: Capability, who: Who) -> str:
        """What comes of a sample as a tool: "done", or what is said instead."""
        sample = self.samples[row.name]
        token = await (self.create_weak_token(row) if who == "weak" else self.get_token(who))
        service = LocalService(self.deps)
        async with Client(build_server(service, service.clock, token, LOCAL)) as client:
            found = await client.call_tool(sample.tool, dict(sample.arguments))
        return str(found.content) if found.is_error else "done"

    @property
    def direct_rooms(self) -> list[str]:
        """The rooms of direct messages with the bot."""
        return [
            channel.location.room for channel in self.workspace.platform.channels.values() if channel.kind == "direct"
        ]

    async def describe_state(self) -> list[str]:
        """All that a request could have changed: what the engine knows, and what managers decided."""
        store = self.workspace.context.store
        documents = [each.key for each in await self.deps.engine.documents.list(self.samples["ask"].everything)]
        corrections = await self.deps.engine.corrections.list(self.samples["ask"].everything)
        verified = [answer.id for answer in await store.verified_answers.list_in_room(ROOF.room)]
        settings = await store.channel_settings.get(ROOF.room)
        digests = [await store.digests.get(room) for room in (ROOF.room, *self.direct_rooms)]
        experts = await store.experts.list_in_workspace("slack", "T1")
        others = (settings, digests, [(expert.person, expert.topic) for expert in experts])
        return [*sorted(documents), *map(str, corrections), *verified, *map(str, others)]


@asynccontextmanager
async def open_world(home: Path, **settings: Any) -> AsyncIterator[World]:
    """Ada manages and reads both channels; Bob is an expert, Cleo wrote a file, Dan is a member, Gus a guest.

    Eve left the workspace. Cleo may see the audit log.
    """
    async with open_bot(home, **settings) as bot:
        names = ("ada", "bob", "cleo", "dan")
        bot.platform.people |= {name: Person(name, name.title(), is_manager=name == "ada") for name in names}
        bot.platform.people |= {
            "gus": Person("gus", "Gus", is_guest=True),
            "eve": Person("eve", "Eve", is_deactivated=True),
        }
        bot.platform.add_channel("ROOF", *names)
        bot.platform.add_channel("ATTIC", "ada", kind="closed")
        for place in (ROOF, ATTIC):
            await bot.store.channels.upsert(place, place.channel.lower())
            await bot.store.channels.record_announced(place.room)
        for person, topic in (("bob", "tiles"), ("ada", "nails")):
            await bot.store.experts.add(Expert(ROOF, person, topic))
        workspace = Workspace(bot, bot.with_settings(llm_model="openai/any"), RecordingAnswers())
        chosen = bot.context.settings
        quotas = Quotas(bot.store, chosen.questions_per_minute, chosen.daily_token_budget, bot.clock)
        access = AccessControl(bot.store, bot.clock, bot.context.audience, quotas, {"slack:T1:cleo"})
        parts = replace(await bot.deps.parts.open(), management=RunningBot(workspace), access=access)
        deps = replace(bot.deps, parts=RunningParts(parts))
        service = LocalService(deps)
        transport = httpx.ASGITransport(build_app(service, service.clock), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as http:
            world = World(workspace, deps, http, {})
            await fill(world)
            yield world


async def fill(world: World) -> None:
    """Cleo's file and an answer in the open channel, a secret in the closed one, and a note at the terminal."""
    workspace, engine = world.workspace, world.deps.engine
    store, space = workspace.context.store, await workspace.context.audience.get_home_space(ROOF)
    for key, place, home, text in (
        ("minutes", ROOF, space, "The tiles come on Monday. Mina met Otto at the Gudgeon. Mino met Otto."),
        ("secret", ATTIC, ATTIC.room, f"The password is agate. {SECRET} met Otto."),
    ):
        await engine.documents.add(Document(key, home, place.room, f"{key}.md", (Passage("1", text),), START))
        await store.files.insert(FileRecord(key, place.room, "f", f"{key}.md", "cleo", START))
    note = (Passage("1", "The ferry Gudgeon leaves at noon. Mina met Otto. Mino met Otto."),)
    await engine.documents.add(Document("note", LOCAL, f"{LOCAL}:room", "note.md", note, START))
    await engine.wait_until_indexed()
    await store.answers.begin(make_answer("a1", asker="bob", question="When do the tiles come?", message_id="q1"))
    await store.answers.finish("a1", AnswerResult("I found nothing.", (), frozenset()))
    on_page = make_answer("p1", location=Location("slack", "T1", ""), question="Who owns the barn?", private=True)
    await store.answers.begin(replace(on_page, asker="ada"))
    await store.answers.finish("p1", AnswerResult("I found nothing.", (), frozenset()))
    for id_ in ("p2", "p3"):
        await store.answers.begin(replace(on_page, id=id_, asker="ada"))
        used = frozenset({"minutes"}), frozenset({space})
        await store.answers.finish(id_, AnswerResult("On Monday. [1]", (), *used))
    await store.shared_answers.add("link", "p3", START)
    world.samples = build_samples(space, ROOF.room)
