"""Scores of conversation disentanglement on a small annotated log."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.quality.disentanglement import link_f1, load_log, main, one_to_one, predict, predict_previous

LOG = """\
[23:58] <ada> Why does the boiler make that noise?
=== carl has joined
[23:59] <ben> ada: it has air in its pipes
[00:00] <ada> ben: thanks, I will open the valve
[00:01]  * ben is happy
"""
ANNOTATION = "0 0 -\n0 2 -\n2 3 -\n4 4 -\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "irc_threads" / "dev"
    place.mkdir(parents=True)
    (place / "a.ascii.txt").write_text(LOG)
    (place / "a.annotation.txt").write_text(ANNOTATION)
    return place


def test_scores_compare_links_and_conversations_with_the_annotation(folder: Path) -> None:
    log = load_log(folder / "a.ascii.txt")
    assert [utterance.author for utterance in log.utterances] == ["ada", "ben", "ada", "ben"]
    assert log.utterances[-1].time > log.utterances[0].time, "the clock passed midnight"
    assert predict(log) == {"0": "0", "2": "0", "3": "2", "4": "3"}
    assert link_f1(log, predict(log)) == 0.75
    assert one_to_one(log, predict(log)) == 0.75
    assert one_to_one(log, {key: key for key in predict(log)}) == 0.5
    assert predict_previous(log) == {"2": "0", "3": "2", "4": "3"}


def test_a_row_is_printed_for_each_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(folder.parent.parent)]) == 0
    assert "dev" in capsys.readouterr().out
    assert main([]) == 0
    assert "Skipped" in capsys.readouterr().out
