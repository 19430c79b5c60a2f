from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.indexed_engine import OpenIndexed, indexed_engines


@pytest.fixture
async def indexed(tmp_path: Path) -> AsyncIterator[OpenIndexed]:
    async with indexed_engines(tmp_path) as indexed:
        yield indexed
