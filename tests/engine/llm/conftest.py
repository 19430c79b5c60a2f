from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine.llm.stub_provider import StubProvider, open_stub_provider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def stub() -> AsyncIterator[StubProvider]:
    async with open_stub_provider() as stub:
        yield stub
