"""The settings file: other lines stay, values are in their place, and it is never half written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.settings import read_variables
from bot.setup.env_file import change_lines, write_env_file
from engine.errors import DiskError

PRESENT = """# Ours.

OTHER='two
THREADLORE_LLM_MODEL=not this'
export THREADLORE_LLM_MODEL=old/one # chosen in May
THREADLORE_SPACE=here
THREADLORE_LLM_MODEL=older
# THREADLORE_LLM_MODEL=commented"""


def test_a_value_changes_in_its_place_and_every_other_line_stays() -> None:
    changed = change_lines(PRESENT, {"THREADLORE_LLM_MODEL": "new/one"})
    expected = PRESENT.replace("=old/one", "=new/one").replace("THREADLORE_LLM_MODEL=older\n", "")
    assert changed == expected + "\n"


@pytest.mark.parametrize("value", ["a b", "it's", 'say "x"', "a#b", "back\\slash", "$HOME", "plain/one:2", "ü"])
def test_any_value_is_read_as_it_was_written(tmp_path: Path, value: str) -> None:
    write_env_file(tmp_path / ".env", {"THREADLORE_A": value, "THREADLORE_B": "1"})
    assert read_variables(tmp_path / ".env") == {"THREADLORE_A": value, "THREADLORE_B": "1"}


@pytest.mark.parametrize("value", ["https://m.example/v1?a=1&b=2", "say!", "a*b", "sk-0=/+"])
def test_a_value_that_needs_no_quotes_has_none(value: str) -> None:
    assert change_lines("", {"THREADLORE_A": value}) == f"THREADLORE_A={value}\n"


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("THREADLORE_A='old #1' # ours", "THREADLORE_A=new # ours"),
        ('THREADLORE_A="two\nlines"#ours', "THREADLORE_A=new #ours"),
        ("THREADLORE_A=old#1", "THREADLORE_A=new"),
        ("'THREADLORE_A'='old'", "THREADLORE_A=new"),
        ("export 'THREADLORE_A' = old # ours", "export THREADLORE_A=new # ours"),
        ("THREADLORE_A", "THREADLORE_A=new"),
        ("THREADLORE_A='it\\'s' # ours", "THREADLORE_A=new # ours"),
    ],
)
def test_what_stands_around_a_value_stays(line: str, changed: str) -> None:
    assert change_lines(f"B=1\n{line}\nC=2\n", {"THREADLORE_A": "new"}) == f"B=1\n{changed}\nC=2\n"


def test_the_owner_and_the_group_of_a_file_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[tuple[int, int]]()

    def refuse(_: int, user: int, group: int) -> None:
        asked.append((user, group))
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    file = tmp_path / ".env"
    write_env_file(file, {"THREADLORE_A": "1"})
    assert asked == []
    write_env_file(file, {"THREADLORE_A": "2"})
    assert asked == [(file.stat().st_uid, file.stat().st_gid)]
    assert file.read_text().endswith("THREADLORE_A=2\n")


def test_the_file_is_its_owners_alone_and_a_link_stays_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "real.env", tmp_path / ".env"
    file.write_text("A=1\n")
    file.chmod(0o644)
    link.symlink_to(file)
    write_env_file(link, {"THREADLORE_A": "2"})
    assert link.is_symlink()
    assert file.read_text() == "A=1\nTHREADLORE_A=2\n"
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_failure_leaves_the_former_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / ".env"
    file.write_text("A=1\n")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(DiskError):
        write_env_file(file, {"THREADLORE_A": "2"})
    assert (file.read_text(), list(tmp_path.iterdir())) == ("A=1\n", [file])
