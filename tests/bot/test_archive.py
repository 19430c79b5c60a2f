from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot import archive
from bot.store import Store
from engine.errors import Broken
from tests.fakes.engines import doc, light_engine

if TYPE_CHECKING:
    from pathlib import Path


async def test_what_the_bot_knows_comes_back_with_the_ledger(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    async with light_engine(home) as engine, Store.open(home / archive.BOT) as store:
        await engine.add(doc("a", "The ferry sails at nine."))
        await store.people.opt_out("slack", "T1", "U1")
        assert await archive.pack(engine, tmp_path / "backup") > 0
        await store.people.opt_out("slack", "T1", "U2")
    other.mkdir()
    archive.unpack(tmp_path / "backup", other)
    async with Store.open(other / archive.BOT) as store:
        assert await store.people.opted_out("slack", "T1", "U1")
        assert not await store.people.opted_out("slack", "T1", "U2")


async def test_a_backup_without_a_bot_leaves_no_other_bots_tables_behind(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    async with light_engine(home) as engine:
        await engine.add(doc("a", "The ferry sails at nine."))
        await archive.pack(engine, tmp_path / "backup")
    async with light_engine(other), Store.open(other / archive.BOT) as store:
        await store.people.opt_out("slack", "T1", "U1")
    archive.unpack(tmp_path / "backup", other, force=True)
    assert not (other / archive.BOT).exists()


async def test_what_is_no_backup_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "letter").write_bytes(b"Dear Ada")
    with pytest.raises(Broken):
        archive.unpack(tmp_path / "letter", tmp_path / "home")
    assert [each.name for each in (tmp_path / "home").iterdir() if each.suffix == ".db"] == []
