"""Two workspaces of one app, and the adapter that serves them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.adapters.slack.install.scene import Installing, open_hub


@pytest.fixture
async def installing(tmp_path: Path) -> AsyncIterator[Installing]:
    async with open_hub(tmp_path) as opened:
        yield opened
