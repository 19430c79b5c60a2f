"""Take every check of an audience away in turn, and see whether the test for leaks notices.

`python -m benchmarks.leak_checks [--only NAME …] [--quick]`. Checks are found, not listed by hand: what decides who may
read, ask or manage, in each module that calls it, and each clause of the ledger that keeps a query within a scope. A
child process takes one check away and tests an empty store with embedded skills and hashed vectors. Exits with 1 if a
check is missed that `ACCEPTED` does not name.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import inspect
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from bot.capabilities.table import list_rows
from bot.i18n import TRANSLATIONS, load_catalog
from bot.leaks.leak_test import LeakTest, run_leak_test
from bot.leaks.report import Leak, LeakReport
from bot.leaks.store_copy import KEPT
from bot.model_setup.opened import EngineModels
from bot.permissions.audience import workspace_space
from bot.permissions.resolver import AudienceResolver
from bot.settings import Settings
from engine import ModelClient, OfflineModel, Scope
from engine.clock import SYSTEM_CLOCK
from tests.support.fake_embedder import HashEmbedder

EVERY_ROW = "1 = 1"
# What answers "may they?", and its answer when nothing is checked.
DECISIONS = {
    "can_read": True,
    "can_read_room": True,
    "can_read_answer": True,
    "may_manage": True,
    "is_workspace_manager": True,
    "is_manager": True,
    "is_auditor": True,
    "scope_covers": True,
    "_is_visible_to": True,
    "matches": True,
    "may_review": True,
    "require_manager": None,
    "check_who": None,
    "check_active": None,
    "hides_authors": False,
}
CLAUSES = ("row_clause", "space_clause", "name_clause")
LEAK_FOUND, NO_LEAK, FAILED = 3, 0, 4
LIMIT_SECONDS = 1200
SMALL = ("private channel", "open channel, for guests")  # what most checks guard: tried first
# Checks behind which another one stands, so that nothing leaks without them.
NOTHING = "no check at all is taken away"
TEXTS = (
    "engine.storage.ledger.queries.search:row_clause hands out no text of others; this keeps their rows from places."
)
RACE = "It asks again right before something is shown, of what was found within the same scope; without it fails "
WORDS = "It only words a refusal, or leaves out what is of no use; "
TOLD = "ContradictionAudience.may_be_told asks everybody whether they read both statements."
ACCEPTED: dict[str, str] = {
    NOTHING: "There must be no leak.",
    "engine.storage.ledger.full_text.index:row_clause": TEXTS,
    "engine.storage.ledger.full_text.index:space_clause": "search.load_entities has a clause of its own, as for texts.",
    "engine.storage.ledger.queries.filters:row_clause": TEXTS,
    "engine.storage.ledger.queries.search:name_clause": "search.load_entities has a clause of its own.",
    "engine.storage.ledger.queries.walk:row_clause": TEXTS,
    "engine.storage.ledger.queries.walk:name_clause": "search.load_entities, and for chunks search:row_clause.",
    "engine.storage.ledger.queries.walk:space_clause": "search.load_entities, and for chunks search:row_clause.",
    "engine.storage.ledger.content.readings:row_clause": "It counts what another model read; the copy has one model.",
    "engine.storage.ledger.work.work_queue:row_clause": "It counts what a model failed at; that one does not.",
    "bot.answers.contradictions.finding:is_workspace_manager": TOLD,
    "bot.answers.contradictions.finding:ContradictionAudience.may_review": TOLD,
    "bot.answers.history:scope_covers": "An answer rests on its history, too: answers.writer:can_read withholds it.",
    "bot.answers.renewal.renewer:can_read": (
        RACE + "renewal/test_renewer.py: test_who_loses_access_while_an_answer_is_posted_does_not_keep_it."
    ),
    "bot.answers.review.improvements:is_manager": WORDS + "bot.answers.control.buttons:is_manager decides.",
    "bot.answers.suggestions.presses:can_read_room": "A button is pressed where its answer is: _is_place_of.",
    "bot.answers.watches.telling:can_read": (
        RACE + "watches/test_notifier.py: test_who_loses_access_while_a_notice_is_posted_is_not_told."
    ),
    "bot.answers.writer:can_read": (
        RACE + "test_service.py: test_what_readers_may_no_longer_read_while_it_is_written_is_withdrawn."
    ),
    "bot.capabilities.access.control:AccessControl.check_active": (
        WORDS
        + "whoever left the workspace reads nothing (AudienceResolver) and manages nothing (is_workspace_manager)."
    ),
    "bot.capabilities.run:check_who": "Commands of managers ask before: PersonAtPlace.require_manager and is_manager.",
    "bot.commands.context:is_workspace_manager": "As PersonAtPlace.is_manager, which alone calls it.",
    "bot.commands.context:PersonAtPlace.is_manager": WORDS + "bot.capabilities.run:check_who decides.",
    "bot.commands.forms.reason:can_read": "It takes a reason and shows nothing; call.can_read asks for the channel.",
    "bot.commands.management.answers:can_read_room": "It is about an expert; answers.review.experts:can_read_room.",
    "bot.commands.review.expert:can_read_room": "It is about an expert; answers.review.experts:can_read_room.",
    "bot.permissions.provenance:can_read": "It says which sentences of a redacted answer stay; none do without it.",
    "bot.commands.review.unanswered:can_read": WORDS + "questions with a verified answer.",
}


@dataclass(frozen=True, slots=True)
class Removal:
    """A check that is taken away: where it stands, and how."""

    name: str
    apply: Callable[[], None]


class LeakFoundError(Exception):
    """The test found a leak, which is enough."""


def list_removals() -> list[Removal]:
    """All checks that are found in the loaded modules, and the checks of scopes and tokens that have no function."""
    return [Removal(NOTHING, lambda: None), *_list_special(), *_list_clauses(), *_list_decisions()]


def _list_decisions() -> Iterator[Removal]:
    for name, module in sorted(sys.modules.items()):
        if not name.startswith("bot.") or name.startswith(("bot.leaks", "bot.ingest.links")):
            continue
        for key, value in list(vars(module).items()):
            if key in DECISIONS and callable(value) and _is_called(module, key):
                yield Removal(f"{name}:{key}", partial(setattr, module, key, _always(value, DECISIONS[key])))
            elif isinstance(value, type) and value.__module__ == name:
                for method, function in list(vars(value).items()):
                    if method in DECISIONS and callable(function):
                        yield Removal(
                            f"{name}:{key}.{method}",
                            partial(setattr, value, method, _always(function, DECISIONS[method])),
                        )


def _is_called(module: ModuleType, name: str) -> bool:
    """Whether the code of a module calls what it has under a name; a definition may be for others alone."""
    source = inspect.getsource(module)
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in ast.walk(ast.parse(source))
    )


def _always(check: Callable[..., Any], answer: object) -> Callable[..., Any]:
    """What always gives the answer, as the check does: at once, or to be awaited."""
    if inspect.iscoroutinefunction(check):

        async def answer_later(*_: object, **__: object) -> object:
            return answer

        return answer_later
    return lambda *_, **__: answer


def _list_clauses() -> Iterator[Removal]:
    for name, module in sorted(sys.modules.items()):
        if name.startswith("engine.") and name != "engine.storage.ledger.clauses":
            for clause in CLAUSES:
                if hasattr(module, clause):
                    yield Removal(f"{name}:{clause}", partial(setattr, module, clause, lambda *_: EVERY_ROW))


def _list_special() -> Iterator[Removal]:
    control, run = import_module("bot.capabilities.access.control"), import_module("bot.capabilities.run")
    audience, resolver = import_module("bot.permissions.audience"), import_module("bot.permissions.resolver")
    documents = import_module("bot.ingest.documents")

    def open_home(channel: Any) -> str:
        return workspace_space(channel.location.platform, channel.location.workspace)

    def set_home() -> None:
        audience.home_space = documents.home_space = open_home  # type: ignore[attr-defined]

    def permit_all() -> None:
        run._list_permissions = lambda row: (row.permission or "read", "ask", "read")  # type: ignore[attr-defined]

    yield Removal("home_space: every channel is open", set_home)
    yield Removal("run: permissions of a token", permit_all)
    yield Removal("authorize: permissions of a token", partial(_skip_permission, control))
    yield Removal("resolve_scope: who left the workspace", partial(_forget_departures, control))
    yield Removal("authenticate: expired tokens", partial(_never_expire, control))
    yield Removal("personal_space: of one person", partial(setattr, audience, "personal_space", lambda *_: "shared:dm"))
    yield Removal("_sole_reader: guests", partial(_count_guests_as_members, resolver))
    yield Removal("list_grants: channels joined", partial(_join_everywhere, audience))
    yield Removal("scope_for_channel: readers of a reply", partial(_read_everything, resolver))


def _facts(channel: Any, reader: str) -> dict[str, Any]:
    return {name: getattr(channel, name) for name in channel.__dataclass_fields__} | {
        "members": channel.members | {reader}
    }


def _skip_permission(control: Any) -> None:
    async def authorize(self: Any, text: str, *_: str) -> Any:
        return await self.authenticate(text)

    control.AccessControl.authorize = authorize


def _forget_departures(control: Any) -> None:
    async def get_person(self: Any, platform: str, workspace: str, person: str) -> Any:
        return replace(await genuine(self, platform, workspace, person), is_deactivated=False)

    genuine = AudienceResolver.get_person
    AudienceResolver.get_person = get_person  # type: ignore[method-assign]


def _never_expire(control: Any) -> None:
    control.AccessToken.is_expired = lambda *_: False


def _count_guests_as_members(resolver: Any) -> None:
    genuine = resolver.audience.SoleReader

    def build(*values: Any, **named: Any) -> Any:
        return genuine(*values[:3], **{**named, "is_guest": False})

    resolver.audience.SoleReader = build


def _join_everywhere(audience: Any) -> None:
    genuine = audience.list_grants

    def list_grants(person: Any, channels: Any) -> Any:
        return genuine(person, [type(channel)(**_facts(channel, person.id)) for channel in channels])

    audience.list_grants = list_grants


def _read_everything(resolver: Any) -> None:
    async def channel_scope(self: Any, location: Any, among: Any) -> tuple[Scope, bool]:
        joined = await self.store.channels.list_joined(location.platform)
        homes = [await self.get_home_space(each) for each in joined]
        return Scope(frozenset(homes), frozenset(each.room for each in joined)), True

    resolver.AudienceResolver._channel_scope = channel_scope


def find_leak(home: Path, *, is_quick: bool = False) -> Leak | None:
    """The first leak of a small store; None if there is none. `is_quick`: only where most checks show."""

    def stop(self: LeakReport, leak: Leak) -> None:
        self.leaks.append(leak)
        raise LeakFoundError

    reports = list[LeakReport]()
    genuine = LeakReport.__init__

    def remember(self: LeakReport, *values: Any, **named: Any) -> None:
        genuine(self, *values, **named)
        reports.append(self)

    LeakReport.add, LeakReport.__init__ = stop, remember  # type: ignore[method-assign]
    embedder = HashEmbedder()
    models = EngineModels(OfflineModel(embedder), embedder, None, ModelClient())
    defaults = {name: Settings.model_fields[name].get_default() for name in KEPT}
    settings = Settings.model_construct(data_dir=home, **defaults)
    small = LeakTest(None, settings, SYSTEM_CLOCK, ("member", "guest"), with_doors=False, kinds=SMALL)
    whole = replace(small, askers=("member", "guest", "manager", "space"), kinds=())
    for test in (small,) if is_quick else (small, whole):
        with suppress(LeakFoundError):
            asyncio.run(run_leak_test(test, models))
        if reports[-1].leaks:
            return reports[-1].leaks[0]
    return None


@dataclass(frozen=True, slots=True)
class Trial:
    """A child process that tests without a check. `reader`: of what it says at its end."""

    removal: Removal
    child: int
    reader: int
    began: float

    def end(self, status: int) -> str:
        """How it ended: what leaked, or "MISSED"."""
        with os.fdopen(self.reader, "rb") as found:
            said = found.read().decode(errors="replace")
        verdict = {LEAK_FOUND: "noticed", NO_LEAK: "MISSED"}.get(os.waitstatus_to_exitcode(status), "broken")
        seconds = time.monotonic() - self.began
        print(f"{verdict:8} {seconds:6.1f} s  {self.removal.name}  {said}", flush=True)
        return verdict


def begin_trial(removal: Removal, folder: str, *, is_quick: bool) -> Trial:
    """Start to test without a check."""
    reader, writer = os.pipe()
    if child := os.fork():
        os.close(writer)
        return Trial(removal, child, reader, time.monotonic())
    signal.alarm(LIMIT_SECONDS)
    sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the child ends
    code = FAILED
    try:
        removal.apply()
        leak = find_leak(Path(folder), is_quick=is_quick)
        code = NO_LEAK if leak is None else LEAK_FOUND
        os.write(writer, repr(leak).encode())
    except BaseException as error:  # noqa: BLE001 - the parent reports it
        os.write(writer, f"{type(error).__name__}: {error}".encode()[:500])
    finally:
        os._exit(code)


def measure(removals: Sequence[Removal], workers: int, *, is_quick: bool) -> list[str]:
    """Try all removals; returns the names of those that the test does not notice."""
    missed, running, waiting = list[str](), dict[int, Trial](), list(removals)
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < workers:
                trial = begin_trial(waiting.pop(0), folder, is_quick=is_quick)
                running[trial.child] = trial
            child, status = os.wait()
            trial = running.pop(child)
            if trial.end(status) == "MISSED":
                missed.append(trial.removal.name)
    return missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[""], help="only checks whose names contain one of these")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="only as a member and a guest, of two places")
    parser.add_argument("--list", action="store_true", help="only list the checks")
    arguments = parser.parse_args()
    for row in list_rows():
        if row.permission is not None:
            row.load_handler()
    for language in TRANSLATIONS:  # once for all children
        load_catalog(language)
    found = [removal for removal in list_removals() if any(part in removal.name for part in arguments.only)]
    if arguments.list:
        print("\n".join(removal.name for removal in found))
        return
    missed = measure(found, arguments.workers, is_quick=arguments.quick)
    unexplained = [each for each in missed if each not in ACCEPTED]
    print(f"{len(found)} checks, {len(missed)} not noticed, {len(unexplained)} of them unexplained")
    sys.exit(bool(unexplained))


if __name__ == "__main__":
    main()
