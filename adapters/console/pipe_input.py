"""Read chat lines from a pipe or a file, and echo them."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from rich.text import Text

from bot.text.terminal import strip_control_chars

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.cli.render.console import Screen


async def read_pipe(screen: Screen) -> AsyncGenerator[str]:
    """Yield each non-blank line until the input ends."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        if line.strip():
            screen.out.print(Text(f"› {strip_control_chars(line.strip())}", "bold"), soft_wrap=True)
            yield line
            screen.out.print()
