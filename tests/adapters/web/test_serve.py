"""What the program says when it begins to serve the page."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal

import pytest
from structlog.testing import capture_logs

from adapters.web import serve
from bot.settings import Settings
from engine.clock import SYSTEM_CLOCK


@pytest.mark.parametrize(("login", "warns"), [("auto", True), ("always", False)])
async def test_a_start_warns_if_nobody_on_this_machine_needs_a_login(
    tmp_path: Path, login: Literal["auto", "always"], *, warns: bool
) -> None:
    service: Any = None
    stop = asyncio.Event()
    stop.set()
    with capture_logs() as logged:
        await serve(service, Settings(data_dir=tmp_path, web_port=0, web_login=login), stop, clock=SYSTEM_CLOCK)
    assert ("web.open_to_this_machine" in {log["event"] for log in logged}) is warns
