"""The command `doctor`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer  # noqa: TC002  - it reads the annotations at run time

from bot.cli.runner import EXIT_FAILED, GlobalOptions, JsonOption, run_command

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bot.cli.doctor.finding import Finding

DOCTOR_HELP = """Check everything on one screen: versions, data directory, disk, encryption, clock, database, what was \
given up, backups, the running bot, tokens, scopes and permissions at each platform, models, the parser service, \
sandbox, and probes.

Exits with 1 if something keeps the program from working as it is set.
"""
MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "failed": ("✗", "red"), "unknown": ("?", "dim")}


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("doctor", help=DOCTOR_HELP)(doctor)


def doctor(context: typer.Context, as_json: JsonOption = False) -> None:  # noqa: FBT002  - an option
    """Run all checks and show what they found."""

    async def work(common: GlobalOptions) -> int:
        from bot.cli.doctor.checks import run_checks  # noqa: PLC0415  - keeps --help fast
        from bot.cli.doctor.finding import CheckContext  # noqa: PLC0415  - keeps --help fast
        from bot.cli.render.console import Screen  # noqa: PLC0415  - keeps --help fast

        checked = CheckContext(common.load_settings(), common.clock)
        findings = await run_checks(checked)
        out = Screen(common.clock).out
        if as_json:
            out.out(
                json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=2), highlight=False
            )
        else:
            out.print(render_findings(findings))
        return EXIT_FAILED if any(finding.state == "failed" for finding in findings) else 0

    run_command(context, work)


def render_findings(findings: list[Finding]) -> RenderableType:
    """A line for each check, and below it what to do."""
    from rich.table import Table  # noqa: PLC0415  - keeps --help fast
    from rich.text import Text  # noqa: PLC0415  - keeps --help fast

    from bot.cli.render.tables import safe_text  # noqa: PLC0415  - keeps --help fast

    rows = Table.grid(padding=(0, 2))
    for finding in findings:
        mark, color = MARKS[finding.state]
        rows.add_row(Text(mark, color), Text(finding.name), safe_text(finding.text))
        if finding.hint:
            rows.add_row("", "", safe_text(finding.hint))
    return rows
