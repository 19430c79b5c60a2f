"""Duplicate names on the command line, as a person sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.__main__ import app

NOTES = {
    "fund.md": "# Fund\n\nThe Harbor Trust Fund (HTF) paid for the crane. Otto Brand thanked the Harbor Trust Fund.\n",
    "crane.md": "# Crane\n\nOtto Brand said that HTF owns the crane. HTF lent it to Margarethenberg.\n",
}


def threadlore(data_dir: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["--data-dir", str(data_dir), *words])


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("duplicates")
    (folder / "notes").mkdir()
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(text)
    assert threadlore(folder / "data", "ingest", str(folder / "notes")).exit_code == 0
    return folder / "data"


@pytest.mark.long
def test_joined_names_are_listed_with_their_evidence_until_they_are_separated(data_dir: Path) -> None:
    shown = threadlore(data_dir, "duplicates").stdout
    assert "HTF → Harbor Trust Fund" in " ".join(shown.split())
    result = json.loads(threadlore(data_dir, "duplicates", "--json").stdout)
    [joined] = result["report"]["joined"]
    assert (joined["name"], joined["other"], joined["reason"]) == ("HTF", "Harbor Trust Fund", "abbreviation")
    assert "Harbor Trust Fund (HTF)" in joined["excerpts"][0]
    assert "separate" in threadlore(data_dir, "correct", "separate", "HTF", "Harbor Trust Fund").stdout
    assert "Harbor Trust Fund" not in threadlore(data_dir, "duplicates").stdout.split("Joined automatically")[-1]
    assert "is now merged" in threadlore(data_dir, "correct", "merge", "HTF", "Harbor Trust Fund").stdout


@pytest.mark.long
def test_a_name_that_is_not_joined_cannot_be_separated_from_nothing(data_dir: Path) -> None:
    result = threadlore(data_dir, "correct", "separate", "Nobody", "No one")
    assert result.exit_code == 1
