"""Conversational commands: chat and demo."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.runner import GlobalOptions, SpaceOption, run_command

CHAT_HELP = """Chat with your documents: streamed answers with sources, follow-up questions. /help lists the commands.

In a pipe, each line is a question.
"""
DEMO_HELP = """Index a small sample town, answer four questions about it, then let you ask.

Needs no API key and no network. If THREADLORE_LLM_MODEL is set, that model is used.
"""


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    app.command("demo", help=DEMO_HELP)(demo)
    app.command("chat", help=CHAT_HELP)(chat)


def chat(context: typer.Context, space: SpaceOption = "") -> None:
    """Run the chat loop of the console adapter."""

    async def work(common: GlobalOptions) -> int:
        from bot.plugins import load_conversation  # noqa: PLC0415  - keeps --help fast
        from bot.rpc.monitored_session import open_monitored_session  # noqa: PLC0415  - keeps --help fast

        settings = common.load_settings(space=space)
        console = load_conversation("console")
        async with open_monitored_session(settings, common.clock, lazily=True) as (session, _):
            await console(session, settings, clock=common.clock)
        return 0

    run_command(context, work)


def demo(
    context: typer.Context,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the town in the data directory (folder `demo`).")] = False,  # noqa: FBT002  - an option
) -> None:
    """Run the demo."""

    async def work(common: GlobalOptions) -> int:
        from bot.cli.chat.demo import run_demo  # noqa: PLC0415  - keeps --help fast

        await run_demo(common.load_settings(), common.clock, keep=keep)
        return 0

    run_command(context, work)
