from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp
import pytest

from tests.support.discord_rules.club import Api, Club
from tests.support.discord_server import FakeDiscord

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with FakeDiscord() as fake, aiohttp.ClientSession() as session:
        fake.rates.rules.clear()
        yield Api(fake, session)


@pytest.fixture
def club(api: Api) -> Club:
    return Club(api.fake, api)
