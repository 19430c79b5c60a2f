"""Commands that converse: chat and demo."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.runner import GlobalOptions, SpaceOption, run_command

CHAT_HELP = """Talk to your documents: streamed answers with sources, follow-up questions, /help for the rest.

Works with a pipe too: one question a line.
"""
DEMO_HELP = """Read in a small town of our invention, ask four questions about it, then let you ask.

Needs no key and no network; with THREADLORE_LLM_MODEL set it uses that model.
"""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("demo", help=DEMO_HELP)(demo)
    app.command("chat", help=CHAT_HELP)(chat)


def chat(context: typer.Context, space: SpaceOption = "") -> None:
    """Let the console adapter run."""

    async def work(common: GlobalOptions) -> int:
        from bot.admin.rpc.service import connect_lazily  # noqa: PLC0415  - --help spares it
        from bot.plugins import load_conversation  # noqa: PLC0415  - --help spares it

        settings = common.load_settings(space=space)
        console = load_conversation("console")
        async with connect_lazily(settings) as service:
            await console(service, settings)
        return 0

    run_command(context, work)


def demo(
    context: typer.Context,
    keep: Annotated[bool, typer.Option("--keep", help="Keep what was read, in the folder demo of the home.")] = False,  # noqa: FBT002  - an option
) -> None:
    """Show the town."""

    async def work(common: GlobalOptions) -> int:
        from bot.cli.demo.run import run_demo  # noqa: PLC0415  - --help spares it

        await run_demo(common.load_settings(), keep=keep)
        return 0

    run_command(context, work)
