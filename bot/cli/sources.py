"""The commands `source add`, `list`, `remove` and `sync`."""

from __future__ import annotations

import asyncio
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.options import JsonOptions, RowCommand, SpaceOptions, add_command, add_request
from bot.cli.runner import EXIT_FAILED, run_command, show_results

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.capabilities.results import OperationResult
    from bot.capabilities.sources.requests import AddSource, RemoveSource
    from bot.cli.runner import GlobalOptions

ABOUT = """Sources outside of the chat: folders, git repositories, websites and mailboxes that are read regularly.

Before a source is read, you see who will find how much, and confirm it. What changes there changes here; what is
deleted there is forgotten here. The bot (`threadlore serve`) reads them regularly, `source sync` reads them now.

Examples:

  threadlore source add /srv/handbook --into PLATFORM:WORKSPACE

  threadlore source add https://git.example/team/notes.git --into PLATFORM:WORKSPACE:CHANNEL

  threadlore source add https://wiki.example/ --every 1440

  threadlore source remove handbook
"""
_WITH_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,40}:|[^/@\s]{1,64}@[^/\s:]{1,255}:")
NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="The name that `source list` shows.", show_default=False)
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

SourceArgument = Annotated[str, typer.Argument(metavar="[NAME]", help="One source; by default all.")]
ForgetOption = Annotated[
    bool, typer.Option("--forget-missing", help="Forget what is gone, even if that is most of it.")
]

source = typer.Typer(help=ABOUT, no_args_is_help=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions(SpaceOptions):
    """What `source add` asks for."""

    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="A folder, a file or an address.", show_default=False)
    ]
    kind: Annotated[str, typer.Option("--kind", help="folder, repository, website or mailbox, if it is not clear.")] = (
        ""
    )
    name: Annotated[str, typer.Option("--name", help="What to call it; by default the end of the address.")] = ""
    into: Annotated[
        str,
        typer.Option(
            "--into",
            metavar="PLATFORM:WORKSPACE[:CHANNEL]",
            help="Whose members find it; by default whoever uses the space of the terminal.",
            show_default=False,
        ),
    ] = ""
    every: Annotated[int, typer.Option("--every", help="Minutes between two readings.", min=0, max=43_200)] = 0
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="An option of the kind; repeatable.", show_default=False),
    ] = None
    yes: YesOption = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalOptions(JsonOptions):
    """What `source remove` asks for."""

    name: NameArgument
    yes: YesOption = False


def add(context: typer.Context, given: SourceOptions) -> None:
    """Have the documents at an address read, now and regularly; first say who finds how much."""
    from bot.capabilities.sources.requests import AddSource  # noqa: PLC0415  - keeps --help fast

    options = tuple(parse_option(text) for text in given.option or ())
    address = resolve_address(given.address)
    request = AddSource(address, given.into, given.name, source_kind=given.kind, minutes=given.every, options=options)
    rehearsed = _Rehearsed(request, "Read it now and regularly?", "Nothing was added.", yes=given.yes)
    _perform_rehearsed(context, rehearsed, given, exit_code=find_exit_code)


def remove(context: typer.Context, given: RemovalOptions) -> None:
    """Remove a source and forget all that was read of it; first say what goes."""
    from bot.capabilities.sources.requests import RemoveSource  # noqa: PLC0415  - keeps --help fast

    rehearsed = _Rehearsed(RemoveSource(given.name), "Forget it?", "Nothing was removed.", yes=given.yes)
    _perform_rehearsed(context, rehearsed, given)


def resolve_address(address: str) -> str:
    """An address with a scheme as it is, and anything else as an absolute path."""
    from bot.capabilities.documents.lookup import resolve_path  # noqa: PLC0415  - keeps --help fast

    if _WITH_SCHEME.match(address) and not Path(address).exists():
        return address
    return str(resolve_path(address, str(Path.cwd())))


def find_exit_code(results: Sequence[OperationResult]) -> int:
    """Return 1 if a source was not read completely."""
    from bot.capabilities.results import SourceReport  # noqa: PLC0415  - keeps --help fast

    return int(any(result.trouble for result in results if isinstance(result, SourceReport)))


def parse_option(text: str) -> tuple[str, str]:
    """The name and the value of an option."""
    from bot.capabilities.sources.places import resolve_option  # noqa: PLC0415  - keeps --help fast

    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals):
        raise typer.BadParameter("Expected NAME=VALUE.")
    return name, resolve_option(name, value, str(Path.cwd()))


@dataclass(frozen=True, slots=True)
class _Rehearsed:
    """A request that is confirmed: what is asked, what is said if it is refused, and whether nobody is asked."""

    request: AddSource | RemoveSource
    question: str
    refused: str
    yes: bool = False


def _perform_rehearsed(
    context: typer.Context,
    asked: _Rehearsed,
    given: SourceOptions | RemovalOptions,
    exit_code: Callable[[Sequence[OperationResult]], int] = lambda _: 0,
) -> None:
    """Say what a request does, ask, and perform it."""

    async def work(common: GlobalOptions) -> int:
        from bot.capabilities.requests import AtSpace  # noqa: PLC0415  - keeps --help fast
        from bot.cli.render.console import Screen  # noqa: PLC0415  - keeps --help fast
        from bot.rpc.service import connect_or_open  # noqa: PLC0415  - keeps --help fast

        settings, screen = common.load_settings(space=getattr(given, "space", "")), Screen(common.clock)
        async with connect_or_open(settings, common.clock) as service:
            if not asked.yes:
                rehearsal = service.perform(AtSpace(settings.space, asked.request))
                shown = Screen(common.clock, screen.err, screen.err) if given.as_json else screen
                await shown.show(rehearsal)
                if not await asyncio.to_thread(_confirm, asked.question):
                    screen.err.print(asked.refused if sys.stdin.isatty() else f"{asked.refused} Confirm it with --yes.")
                    return EXIT_FAILED
            stream = service.perform(AtSpace(settings.space, replace(asked.request, confirmed=True)))
            results = await show_results(screen, stream, as_json=given.as_json)
        return exit_code(results)

    run_command(context, work)


def _confirm(question: str) -> bool:
    return sys.stdin.isatty() and typer.confirm(question, default=False, err=True)


LIST = RowCommand(
    "list",
    "List the sources with who finds them, how much was read, and what is wrong.",
    row="list-sources",
    has_space=False,
)
SYNC = RowCommand(
    "sync",
    "Read sources now. Exits with 1 if one could not be read completely.",
    row="sync-source",
    has_space=False,
    exit_code=find_exit_code,
)
PAUSE = RowCommand(
    "pause",
    "Read a source no longer by itself; what was read of it stays.",
    row="pause-source",
    has_space=False,
    has_json=False,
)
RESUME = replace(PAUSE, name="resume", text="Read a source regularly again.", fixed={"paused": False})
UNREAD = RowCommand("unread", "List what of a source was not read, and why.", row="list-unread-items", has_space=False)
add_command(source, "add", SourceOptions, add)
add_request(source, LIST)
add_command(source, "remove", RemovalOptions, remove)
add_request(source, SYNC, name=(SourceArgument, ""), forget_missing=(ForgetOption, False))
add_request(source, PAUSE, name=NameArgument)
add_request(source, RESUME, name=NameArgument)
add_request(source, UNREAD, name=NameArgument)
