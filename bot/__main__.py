"""Entry point of the command line: `threadlore`, also `python -m bot`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path  # noqa: TC003  - typer reads it at run time
from typing import Annotated

import typer

from bot.cli import ask, corrections, documents, history_import, maintenance, options, overviews, serve, setup, sources
from bot.cli.access import leaks, mcp, receipts, tokens
from bot.cli.chat import command as chat
from bot.cli.doctor import command as doctor
from bot.cli.doctor import models
from bot.cli.init import command as init
from bot.cli.panels import sort_into_panels
from bot.cli.runner import GlobalOptions, run_command, run_program
from engine import Clock

ABOUT = """Threadlore answers questions about your channels and files, with citations.

Start with `threadlore init`, which sets everything up, with `threadlore demo`, or with your own files:

  threadlore ingest notes/

  threadlore ask "What did we decide about the roof?"

  threadlore chat

No API key is needed: without a language model, answers quote your documents. Set THREADLORE_LLM_MODEL (see
.env.example) to have a model write them. While the bot is running, commands are executed by the running process.
"""

app = typer.Typer(
    name="threadlore", help=ABOUT, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)


def _show_version(context: typer.Context, *, checks: bool) -> None:
    """Show the version; `checks`: and whether the package index has a newer one."""
    from importlib.metadata import version  # noqa: PLC0415  - needed for this alone

    typer.echo(f"threadlore {version('threadlore')}")
    if not checks:
        raise typer.Exit

    async def work(options: GlobalOptions) -> int:
        from bot.cli.doctor.updates import describe_update  # noqa: PLC0415  - keeps --help fast

        typer.echo(await describe_update(options.load_settings()))
        return 0

    run_command(context, work)


@app.callback(invoke_without_command=True)
def common(
    context: typer.Context,
    data_dir: Annotated[  # whether it can be read is checked with the settings, which say what to do
        Path | None, typer.Option("--data-dir", help="Data directory.", show_default=False, readable=False)
    ] = None,
    env_file: Annotated[
        Path | None,
        typer.Option(
            "--env-file", help="Settings file to use instead of .env in the data directory.", show_default=False
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show logs and tracebacks.")] = False,  # noqa: FBT002  - an option
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,  # noqa: FBT002  - an option
    check: Annotated[  # noqa: FBT002  - an option
        bool, typer.Option("--check", help="With --version: ask the package index for a newer one.")
    ] = False,
) -> None:
    """Options before every command. A program that runs the command line may give its clock as `obj`."""
    options = GlobalOptions(data_dir, debug, env_file)
    context.obj = replace(options, clock=context.obj) if isinstance(context.obj, Clock) else options
    if version:
        _show_version(context, checks=check)
    if context.invoked_subcommand is None:
        context.fail("Missing command.")


init.register(app)
chat.register(app)
ask.register(app)
documents.register(app)
overviews.register(app)
history_import.register(app)
maintenance.register(app)
receipts.register(app)
serve.register(app)
mcp.register(app)
leaks.register(app)
setup.register(app)
doctor.register(app)
models.register(app)
options.add_plugins(app)
app.add_typer(corrections.correct, name="correct")
app.add_typer(tokens.token, name="token")
app.add_typer(sources.source, name="source")
sort_into_panels(app)


def main() -> None:
    """Run the command line."""
    run_program(app)


if __name__ == "__main__":
    main()
