"""The command `check`: tiny calls of each model, before the first question."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer  # noqa: TC002  - it reads the annotations at run time

from bot.cli.runner import EXIT_FAILED, GlobalOptions, JsonOption, run_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from engine.llm.traits.model_check import ModelCheck

CHECK_HELP = """Check the model of each role by a few tiny calls: key, name, streaming, system role, JSON mode, \
context window, length of replies, reasoning, dimensions and price.

What is found is remembered in the data directory. Exits with 1 if a model cannot be used as it is set.
"""
NOTHING_TO_CHECK = "No model is set: answers quote your documents, and vectors are made here. Nothing needs a check."


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("check", help=CHECK_HELP)(check)


def check(context: typer.Context, as_json: JsonOption = False) -> None:  # noqa: FBT002  - an option
    """Check all models and show what was found."""

    async def work(common: GlobalOptions) -> int:
        from bot.cli.render.console import Screen  # noqa: PLC0415  - keeps --help fast
        from bot.model_setup.checks import check_models  # noqa: PLC0415  - as above

        checks = await check_models(common.load_settings(), common.clock)
        out = Screen(common.clock).out
        if as_json:
            out.out(json.dumps([asdict(done) for done in checks], ensure_ascii=False, indent=2), highlight=False)
        else:
            out.print(render_checks(checks) if checks else NOTHING_TO_CHECK)
        return 0 if all(done.works for done in checks) else EXIT_FAILED

    run_command(context, work)


def render_checks(checks: Sequence[ModelCheck]) -> RenderableType:
    """A line for each role, and below it what was found and what to change."""
    from rich.table import Table  # noqa: PLC0415  - keeps --help fast
    from rich.text import Text  # noqa: PLC0415  - as above

    from bot.capabilities.management.checked_models import summarize_facts  # noqa: PLC0415  - as above
    from bot.cli.render.tables import safe_text  # noqa: PLC0415  - as above

    rows, told = Table.grid(padding=(0, 2)), set[tuple[str, str]]()
    for done in checks:
        mark, color = ("✗", "red") if not done.works else ("!", "yellow") if done.problems else ("✓", "green")
        rows.add_row(Text(mark, color), Text(done.role), safe_text(done.model))
        if summary := summarize_facts(done.facts):
            rows.add_row("", "", Text(summary, "dim"))
        news = [problem for problem in done.problems if (done.model, problem.text) not in told]
        for problem in news:  # each once, though several roles have the model
            told.add((done.model, problem.text))
            rows.add_row("", "", safe_text(f"{problem.text} {problem.hint}".strip()))
        if done.problems and not news:
            rows.add_row("", "", Text("The same as above.", "dim"))
    return rows
