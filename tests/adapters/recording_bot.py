"""A bot that only records, for both adapters."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, TypeVar

from bot.platform.events import PlatformEvent
from bot.platform.forms import Form, FormOption
from bot.platform.models import Button, Card, Location
from bot.settings import Settings
from engine import Clock
from engine.errors import StoreError
from engine.scheduling.processes import LocalProcesses
from engine.scheduling.supervisor import Supervisor

T = TypeVar("T")


class MemoryState:
    """Values of an adapter by platform and name, as in the bot's database."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], str] = {}

    async def get(self, platform: str, name: str) -> str:
        return self.values.get((platform, name), "")

    async def set(self, platform: str, name: str, value: str) -> None:
        self.values[platform, name] = value


class MemoryStore:
    """The part of the bot's database that adapters without installations use."""

    def __init__(self) -> None:
        self.adapter_state = MemoryState()


class RecordingBot:
    """Records events, once by key; `names` are what it suggests; the next `failures` events are not stored.

    `suspensions_saved`: whether other processes know what was suspended.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.events: list[PlatformEvent] = []
        self.keys: set[str] = set()
        self.names: list[str] = []
        self.suggestions: list[tuple[str, Location, str]] = []
        self.platforms: list[Any] = []
        self.reconciled = self.refreshed = self.suspended = self.active = self.failures = 0
        self.visibility: list[tuple[str, str]] = []  # what was suspended and reconciled, by workspace
        self.suspensions_saved = asyncio.Event()
        self.suspensions_saved.set()
        self.known_workspaces: set[str] = set()
        self.wanted_workspaces: set[str] = set()
        self.lacking: list[str] = []  # permissions
        self.skipped: list[str] = []  # the names of events that could not be read
        self.expected: set[str] = set()
        self.form: Form | None = None  # what every interaction opens
        self.form_errors: dict[str, str] = {}
        self.store = MemoryStore()
        self.settings = Settings()
        self.supervisor = Supervisor(clock)
        self.processes = LocalProcesses()

    @property
    def platform(self) -> Any:
        return self.platforms[-1]

    @property
    def all_reconciled(self) -> list[str]:
        """The workspaces that were reconciled, in order."""
        return [workspace for what, workspace in self.visibility if what == "reconcile"]

    def expect_platform(self, platform: str) -> None:
        self.expected.add(platform)

    def stand_by(self, platform: str) -> None:
        self.expected.discard(platform)

    async def list_workspaces(self, _: str) -> set[str]:
        return self.known_workspaces

    def attach(self, platform: Any) -> None:
        self.platforms.append(platform)

    def record_skipped_event(self, _: str, kind: str) -> None:
        self.skipped.append(kind)

    def report_lacking(self, platform: str, workspace: str, permissions: Sequence[str]) -> None:
        self.lacking += permissions

    def list_wanted_workspaces(self, _: str) -> set[str]:
        return self.wanted_workspaces

    def suspend_visibility(self, _: str, workspace: str = "") -> None:
        self.suspended += 1
        self.visibility.append(("suspend", workspace))

    async def save_suspensions(self) -> None:
        await self.suspensions_saved.wait()

    async def reconcile(self, _: str, workspace: str = "") -> None:
        self.reconciled += 1
        self.visibility.append(("reconcile", workspace))

    async def refresh_visibility(self, _: str, workspace: str = "") -> None:
        self.refreshed += 1

    async def receive(self, event: PlatformEvent, *keys: str) -> bool:
        if self.failures:
            self.failures -= 1
            raise StoreError("The disk is away.")
        is_new = self.keys.isdisjoint(keys)
        self.keys |= {*keys}
        self.events += [event] if is_new else []
        return is_new

    async def build_form(self, _: object) -> Form | None:
        return self.form

    def check_form(self, _: object) -> dict[str, str]:
        return self.form_errors

    async def suggest_names(self, person: str, place: Location, prefix: str) -> list[str]:
        self.suggestions.append((person, place, prefix))
        return self.names

    async def suggest_filter(self, person: str, place: Location, name: str, typed: str) -> list[FormOption]:
        self.suggestions.append((person, place, f"{name}:{typed}"))
        return [FormOption(f"<#{each}>", f"#{each}") for each in self.names]

    async def build_home_card(self, platform: str, workspace: str, person: str) -> Card:
        return Card(f"**Hello** {platform} {workspace} {person}", buttons=(Button("Forget me", "forget-me", person),))

    def record_activity(self, _: str) -> None:
        self.active += 1

    def all(self, kind: type[T]) -> list[T]:
        return [event for event in self.events if isinstance(event, kind)]
