"""The audit command: what each kind of asker could learn, tried on a copy of the data."""

from __future__ import annotations

import json
import tempfile
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.runner import EXIT_FAILED, GlobalOptions, JsonOption, run_command

if TYPE_CHECKING:
    from bot.leaks.report import LeakReport
    from bot.settings import Settings
    from engine import Clock

AUDIT_HELP = """Test what somebody could learn, on a copy of the data in a temporary folder that is deleted afterwards.

Invented names and codes are planted in the copy: in a private channel, direct messages, a channel of two \
workspaces, an age-restricted one, another workspace, personal files and a space of the terminal, besides five \
private channels that the data has. Then each asker asks about them in every way there is: each capability as a \
program, the commands, questions and completions of the chat, the routes and pages of the API, the tools of \
assistants. A reply with a word that was planted where the asker may not read, a request that should have been \
refused, and a reply that changed because of what was planted are leaks.

Nothing is posted, no platform or model is asked, no text leaves this machine. In channels of the data, those who \
wrote there count as members. The copy needs as much space as the data (TMPDIR).

Exits with 1 if there is a leak. Who did what is another list: `threadlore audit-log`.

Examples:

  threadlore audit --as guest

  threadlore audit --as @U024BE7LH --as token:4f3a --json
"""
AsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="WHO",
        help="member, guest, manager, space, @PERSON, PLATFORM:WORKSPACE:ID or token:ID; several times.",
        show_default="member, guest, manager and space",
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", help="Of the invented words.")]


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("audit", help=AUDIT_HELP)(audit)


def audit(context: typer.Context, as_: AsOption = None, seed: SeedOption = 1, as_json: JsonOption = False) -> None:  # noqa: FBT002  - an option
    """Test for leaks, and print a table of surfaces and askers."""

    async def work(common: GlobalOptions) -> int:
        from bot.leaks.leak_test import DEFAULT_ASKERS  # noqa: PLC0415  - keeps --help fast

        settings = common.load_settings()
        report = await _test(settings, common.clock, (tuple(as_ or DEFAULT_ASKERS), seed))
        typer.echo(json.dumps(report.to_json(), indent=2) if as_json else _format(report))
        return EXIT_FAILED if report.leaks else 0

    run_command(context, work)


async def _test(settings: Settings, clock: Clock, chosen: tuple[tuple[str, ...], int]) -> LeakReport:
    """Copy the data and test the copy. `chosen`: askers and seed."""
    from bot.leaks.leak_test import LeakTest, run_leak_test  # noqa: PLC0415  - as above

    askers, seed = chosen
    with tempfile.TemporaryDirectory(prefix="threadlore-leaks-") as folder:
        backup = Path(folder) / "copy.tar.gz"
        await _back_up(settings, clock, backup)
        return await run_leak_test(LeakTest(backup, settings, clock, askers, seed))


async def _back_up(settings: Settings, clock: Clock, path: Path) -> None:
    """Write all data to a file, by the running process if there is one."""
    from bot.capabilities.requests import AtSpace, Backup  # noqa: PLC0415  - as above
    from bot.rpc.service import connect_or_open  # noqa: PLC0415  - as above

    request = AtSpace(settings.space, Backup(str(path)))
    async with connect_or_open(settings, clock) as service, aclosing(service.perform(request)) as results:
        async for _ in results:
            pass


def _format(report: LeakReport) -> str:
    """The table, the leaks in sentences, and what was not tried."""
    from bot.leaks.report import SENTENCES  # noqa: PLC0415  - as above

    rows = [("surface", report.askers), *report.rows()]
    columns = [max(len(row[0]) for row in rows), *(max(len(row[1][i]) for row in rows) for i in range(len(rows[0][1])))]
    lines = []
    for name, cells in rows:
        padded = (cell.ljust(width) for cell, width in zip((name, *cells), columns, strict=True))
        lines.append("  ".join(padded).rstrip())
    for leak in report.leaks:
        guarded = f" ({leak.guarded})" if leak.guarded else ""
        lines.append(f"LEAK  {leak.surface}, {leak.asker}: {SENTENCES[leak.kind]}{guarded}.")
    lines += [f"not tried: {name}. {reason}" for name, reason in report.untried.items()]
    count = sum(report.tried.values())
    lines.append(f"{count} replies, {len(report.leaks)} leaks. Planted: {', '.join(report.planted)}.")
    return "\n".join(lines)
