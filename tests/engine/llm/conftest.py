from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.engine.llm.stub_provider import StubProvider, open_stub_provider


@pytest.fixture
async def stub() -> AsyncIterator[StubProvider]:
    async with open_stub_provider() as stub:
        yield stub
