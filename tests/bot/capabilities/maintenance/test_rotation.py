"""The tag of the data tells bots apart that are set up alike, and stays the same for one."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from bot.capabilities.maintenance.rotation import FILE, describe_place, find_former_tag, find_tag
from bot.settings import Settings
from engine.errors import DatabaseUnreachable, DiskError


def test_a_data_directory_keeps_a_tag_that_no_other_has(tmp_path: Path) -> None:
    homes = [Settings(data_dir=tmp_path / name) for name in ("one", "two")]
    assert [find_tag(home) for home in homes] == ["", ""]
    made = [find_tag(home, create=True) for home in homes]
    assert len({*made, *map(find_former_tag, homes)}) == 4
    assert [find_tag(home, create=True) for home in homes] == made
    (tmp_path / "one").rename(tmp_path / "moved")
    assert find_tag(Settings(data_dir=tmp_path / "moved")) == made[0]


def test_a_tag_that_is_damaged_is_made_anew_and_one_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"\xff*")
    settings = Settings(data_dir=tmp_path)
    assert find_tag(settings) == ""
    assert find_tag(settings, create=True) == find_tag(settings) != ""
    (tmp_path / "file").touch()
    with pytest.raises(DiskError):
        find_tag(Settings(data_dir=tmp_path / "file"), create=True)


def test_a_database_has_one_tag_by_whatever_address_and_another_than_its_neighbor(postgres_url: str) -> None:
    def find(address: str) -> str:
        return find_tag(Settings(database=SecretStr(address)))

    with psycopg.connect(postgres_url) as raw:
        info = raw.info
        words = f"host={info.host} port={info.port} user={info.user} password='{info.password}' dbname="
        name = info.dbname
    assert find(postgres_url) == find(f"{words}{name} application_name=mill")
    assert find(postgres_url) != find(f"{words}postgres")
    assert find(postgres_url) != find_former_tag(Settings(database=SecretStr(postgres_url)))


def test_a_database_that_is_away_is_an_error() -> None:
    with pytest.raises(DatabaseUnreachable):
        find_tag(Settings(database=SecretStr("postgresql://mill@127.0.0.1:1/lore")))


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("postgresql://mill:secret@Db.example:5432/lore", "db.example:5432/lore"),
        ("postgresql://db.example:5432/lore?user=mill&password=secret&sslmode=require", "db.example:5432/lore"),
        ("host=db.example user=mill password='a b' dbname=lore", "dbname=lore host=db.example"),
    ],
)
def test_a_place_does_not_depend_on_credentials(address: str, place: str) -> None:
    assert describe_place(address) == place
    other = find_former_tag(Settings(database=SecretStr(address.replace("lore", "lore2"))))
    assert find_former_tag(Settings(database=SecretStr(address))) != other
