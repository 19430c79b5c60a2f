"""What is forgotten while the bot is away stays forgotten when it comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.forgetting import forget
from bot.store import Filed
from tests.bot import parrot
from tests.bot.household import household
from tests.fakes.engines import doc

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_file_that_is_forgotten_while_the_bot_is_away_is_not_taken_in_again(tmp_path: Path) -> None:
    async with household(tmp_path / "home") as home:
        roof = await home.joined("ROOF", "ada")
        upload = home.platform.upload("tiles.txt", b"The tiles come on Monday.")
        message = await home.hear(home.platform.say(roof, "ada", "", uploads=[upload]))
        [filed] = await home.listening.filing.take(message)
        assert isinstance(filed, Filed)
        settings, platform = home.house.settings, home.platform
    async with parrot.desk(settings.root) as desk:
        assert await forget(desk, settings, filed.document)
        assert not await forget(desk, settings, filed.document)
    async with household(tmp_path / "home", platform) as home:
        await home.listening.filing.take(message)
        assert await home.documents(roof) == []


async def test_where_there_never_was_a_bot_the_engine_alone_forgets(tmp_path: Path) -> None:
    async with household(tmp_path / "home") as home:
        settings = home.house.settings.model_copy(update={"home": tmp_path / "other"})
    async with parrot.desk(settings.root) as desk:
        await desk.engine.add(doc("old", "Ada met Bob."))
        assert await forget(desk, settings, "old")
    assert not (settings.root / "bot.db").exists()
