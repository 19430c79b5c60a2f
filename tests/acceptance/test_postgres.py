"""The whole bot with all its data in a PostgreSQL database; `--database=postgres` runs all other stories so, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.model_setup.opened import EngineModels
from tests.support.town.live_bot import open_live_bot
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")


def list_databases(folder: Path) -> list[Path]:
    return list(folder.glob("*.db"))


async def test_answers_obey_audiences_edits_deletions_and_restarts(
    tmp_path: Path, models: EngineModels, postgres_url: str
) -> None:
    async with open_live_bot(SlackTown(), tmp_path, models, database=SecretStr(postgres_url)) as live:
        town = live.town

        async def ask(person: str) -> list[str]:
            asked = await town.ask(person, "square")
            await live.wait_until_idle()
            return [find_secrets(post.text) for post in town.posts(asked)]

        town.add_channel("square", "ada cleo")
        town.add_channel("market", "ada")
        said = await live.post_passwords(square="agate", market="beryl")
        assert await ask("cleo") == ["agate beryl"]
        await live.restart()
        await town.make_private("market", "ada")
        assert await ask("cleo") == ["agate"]
        await town.make_public("market")
        await town.delete(said["square"])
        await live.wait_until_idle()
        assert await ask("ada") == ["beryl"]
        assert (await live.engine.maintenance.verify()).is_clean
    assert list_databases(tmp_path) == []
