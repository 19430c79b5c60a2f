from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest

from tests.support.discord_rules.club import Api, Club
from tests.support.discord_server import FakeDiscord


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with FakeDiscord() as fake, aiohttp.ClientSession() as session:
        fake.rates.rules.clear()
        yield Api(fake, session)


@pytest.fixture
def club(api: Api) -> Club:
    return Club(api.fake, api)
