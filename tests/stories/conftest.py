"""Engines for the stories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fakes.engines import light_engine
from tests.fakes.language import ToyLanguage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from engine import Engine


@pytest.fixture
def language() -> ToyLanguage:
    """The language of `light`."""
    return ToyLanguage()


@pytest.fixture
async def light(tmp_path: Path, language: ToyLanguage) -> AsyncIterator[Engine]:
    """An engine with a real ledger, and graph and vectors in memory."""
    async with light_engine(tmp_path / "light", language) as opened:
        yield opened
