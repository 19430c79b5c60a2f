"""Commands that converse: chat and demo."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.runner import Common, Space, run

CHAT = """Talk to your documents: streamed answers with sources, follow-up questions, /help for the rest.

Works with a pipe too: one question a line.
"""
DEMO = """Read in a small town of our invention, ask four questions about it, then let you ask.

Needs no key and no network; with THREADLORE_MODEL set it uses that model.
"""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("demo", help=DEMO)(demo)
    app.command("chat", help=CHAT)(chat)


def chat(context: typer.Context, space: Space = "") -> None:
    """Let the console adapter run."""

    async def work(common: Common) -> int:
        from bot.admin.rpc.service import reach_meanwhile  # noqa: PLC0415  - --help spares it
        from bot.plugins import conversation  # noqa: PLC0415  - --help spares it

        settings = common.settings(space=space)
        console = conversation("console")
        async with reach_meanwhile(settings) as service:
            await console(service, settings)
        return 0

    run(context, work)


def demo(
    context: typer.Context,
    keep: Annotated[bool, typer.Option("--keep", help="Keep what was read, in the folder demo of the home.")] = False,  # noqa: FBT002  - an option
) -> None:
    """Show the town."""

    async def work(common: Common) -> int:
        from bot.cli.demo.run import show  # noqa: PLC0415  - --help spares it

        await show(common.settings(), keep=keep)
        return 0

    run(context, work)
