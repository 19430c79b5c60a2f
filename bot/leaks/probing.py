"""Ask as somebody through the table of capabilities, the chat and the doors, and look for planted words in replies."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.capabilities.requests import Authorized, WithoutLogin
from bot.capabilities.results import ProgressUpdate
from bot.capabilities.run import run
from bot.capabilities.table import list_rows
from bot.leaks.canaries import may_read
from bot.leaks.report import Leak
from bot.leaks.samples import UNTRIED, list_probes
from engine.errors import EngineError, InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bot.bot import Bot
    from bot.capabilities.requests import OperationRequest
    from bot.capabilities.row import Capability
    from bot.leaks.askers import LeakAsker
    from bot.leaks.canaries import Bait, Canary
    from bot.leaks.report import LeakReport
    from bot.leaks.samples import Probe

TOKEN_REQUESTS = 1_000_000  # a minute
EVERYBODY = "the text that everybody who is asked for may read"


@dataclass(frozen=True, slots=True)
class PlantedStore:
    """The bot over the copy, the text for everybody, and the canaries planted so far."""

    bot: Bot
    bait: Bait
    canaries: Sequence[Canary]
    report: LeakReport

    def find_leaks(self, surface: str, asker: LeakAsker, asked: str, reply: str) -> list[Canary]:
        """The canaries of which a reply tells an asker, apart from words that the question had."""
        asked, reply = asked.casefold(), reply.casefold()
        said = self.report.said.setdefault(asker.name, set())
        said.update(word for canary in self.canaries for word in canary.words if word in asked)
        known = said if any(own in surface for own in OWN_WORDS) else ()
        return [
            canary
            for canary in self.canaries
            if not may_read(asker, canary)
            and any(word in reply and word not in asked and word not in known for word in canary.words)
        ]

    def scan(self, surface: str, asker: LeakAsker, asked: str, reply: str) -> None:
        """Count a reply, and record what it leaks."""
        self.report.tried[surface, asker.name] += 1
        for canary in self.find_leaks(surface, asker, asked, reply):
            self.report.add(Leak(surface, asker.name, "words", canary.kind))
        if asker.is_shut_out and self.bait.is_told(asked, reply):
            self.report.add(Leak(surface, asker.name, "words", EVERYBODY))


async def create_token(bot: Bot, asker: LeakAsker) -> str:
    """The text of a new token of an asker; of one who is shut out, one that must not work."""
    access = (await bot.deps.parts.open()).access
    lifetime = timedelta(seconds=-1) if asker.kind == "expired" else None
    token, text = await access.create_token(asker.name, asker.subject, asker.permissions, TOKEN_REQUESTS, lifetime)
    if asker.kind == "ended":
        await access.revoke_token(token.id)
    return text[:-1] + ("0" if text[-1] != "0" else "1") if asker.kind == "forged" else text


class TableProbes:
    """Tries every row of the table of capabilities as a program with an asker's token."""

    def __init__(self, store: PlantedStore, asker: LeakAsker, token: str) -> None:
        self._store = store
        self._asker = asker
        self._token = token

    async def run(self, *, changing: bool) -> None:
        """Try all rows: those that read, or those that change something."""
        for row in list_rows():
            reads = row.permission in {"ask", "read"}
            if reads is changing:
                continue
            for probe in self._list(row):
                await self._try(probe)

    async def read_all(self) -> dict[str, str]:
        """The replies to requests about the text for everybody, by surface and number: before and after planting."""
        return await self._read(lambda probe: probe.canary is None)

    async def read_hidden(self) -> dict[str, str]:
        """The replies to requests about texts in places of which the asker may not know: as if these did not exist."""
        return await self._read(lambda probe: probe.canary is not None and not probe.canary.is_adult)

    async def _read(self, is_wanted: Callable[[Probe], bool]) -> dict[str, str]:
        return {
            f"{row.name} {number}": (await self._perform(probe.request))[0]
            for row in list_rows()
            if row.permission == "read" and row.name not in VARYING
            for number, probe in enumerate(self._list(row))
            if is_wanted(probe)
        }

    def _list(self, row: Capability) -> Iterable[Probe]:
        if row.name in UNTRIED:
            self._store.report.untried[row.name] = UNTRIED[row.name]
            return []
        channel = self._store.bait.find_channel(self._asker)
        room = channel.location.room if channel else self._asker.subject.space
        canaries = [canary for canary in self._store.canaries if not may_read(self._asker, canary)]
        if self._asker.is_shut_out:
            canaries = canaries[:1]  # nothing is answered, whatever it is about
        try:
            return list(list_probes(row, self._store.bait, room, canaries))
        except InvalidQuestion as error:
            self._store.report.untried[row.name] = str(error)
            return []

    async def _try(self, probe: Probe) -> None:
        surface = probe.row.name
        reply, is_done = await self._perform(probe.request)
        self._store.scan(surface, self._asker, repr(probe.request), reply)
        if is_done and probe.must_be_refused(self._asker):
            guarded = probe.canary.kind if probe.canary else ""
            self._store.report.add(Leak(surface, self._asker.name, "granted", guarded))

    async def _perform(self, request: OperationRequest) -> tuple[str, bool]:
        """Everything that comes of a request, as text, and whether it was carried out."""
        deps, texts = self._store.bot.deps, list[str]()
        envelopes: list[OperationRequest] = [Authorized(self._token, request, "api")]
        if self._asker.kind == "space":
            envelopes.append(WithoutLogin(self._asker.subject.space, request, "page"))
        is_done = False
        for envelope in envelopes:
            try:
                async with aclosing(run(deps, envelope)) as results:
                    async for result in results:
                        if not isinstance(result, ProgressUpdate):
                            texts.append(repr(result))
                is_done = True
            except EngineError as error:
                texts.append(f"{error} {error.hint}")
            except Exception as error:  # noqa: BLE001 - a fault of a handler tells nothing, and the others are tried
                failed = f"{type(request).__name__} failed: {type(error).__name__}."
                self._store.report.untried.setdefault(type(request).__name__, failed)
        return "\n".join(texts), is_done


# Rows whose replies change by themselves: what was used, who asked, and states of the program.
# Surfaces that show people what they asked or wrote themselves.
OWN_WORDS = ("my-data", "forget-me", "verified-answers", "shared-answers")
VARYING = frozenset({"usage", "health", "audit-log", "my-data", "export-my-data"})


def compare(before: Sequence[dict[str, str]], after: dict[str, str]) -> list[str]:
    """The surfaces whose replies were equal before texts were planted, and are others now."""
    first, second = before
    changed = [name for name, reply in after.items() if first.get(name) == second.get(name) != reply]
    return sorted({name.rpartition(" ")[0] for name in changed})
