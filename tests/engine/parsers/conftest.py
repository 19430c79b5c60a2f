from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from engine import FileParser


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def parser(request: pytest.FixtureRequest) -> AsyncIterator[FileParser]:
    """A parser with one worker for all tests of a module, within the module's LIMITS."""
    async with FileParser(request.module.LIMITS) as opened:
        yield opened
