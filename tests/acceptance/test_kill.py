from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crash.run import ordeal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("seed", [1, 2])
async def test_killed_at_any_moment_it_ends_as_if_nothing_had_happened(seed: int, tmp_path: Path) -> None:
    outcome = await ordeal(seed, tmp_path)
    assert outcome.wrong == [], f"killed {outcome.deaths}"
    assert outcome.deaths
