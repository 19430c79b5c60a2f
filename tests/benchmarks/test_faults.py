"""The benchmark of faults makes each fault of the paper, by tests that exist."""

from __future__ import annotations

import ast
import re

import pytest

from benchmarks.faults import ROOT, load_faults, read_outcome, select_rows
from tests.support.source_trees import parse_module

FAULTS = load_faults()
COLUMNS = ["Fault", "What happens", "Health", "What to do"]
[SECTION] = re.findall(
    r"^## Faults\n(.*?)(?=^## |\Z)", (ROOT / "docs/operations.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
TABLES = [
    [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line.startswith("|")]
    for part in SECTION.split("\n### ")[1:]
]


def test_all_tables_of_the_paper_have_the_same_columns_and_no_empty_cell() -> None:
    assert len(TABLES) == 5
    for head, _, *rows in TABLES:
        assert head == COLUMNS
        assert [row for row in rows if len(row) != len(COLUMNS) or not all(row)] == []


def test_each_row_of_the_paper_is_made_and_no_other() -> None:
    assert [row[0].partition(" (")[0] for _, _, *rows in TABLES for row in rows] == list(FAULTS)


@pytest.mark.parametrize("fault", FAULTS)
def test_its_tests_exist(fault: str) -> None:
    assert FAULTS[fault]
    for node_ids in FAULTS[fault].values():
        assert node_ids
        for node_id in node_ids:
            file, _, name = node_id.partition("::")
            assert (ROOT / file).is_file(), node_id
            functions = ast.FunctionDef | ast.AsyncFunctionDef
            known = {node.name for node in parse_module(ROOT / file).body if isinstance(node, functions)}
            assert not name or name.partition("[")[0] in known, node_id


def test_rows_are_selected_by_words_of_the_fault() -> None:
    assert {fault for fault, _, _ in select_rows(FAULTS, "HANGS")} == {"PostgreSQL hangs"}
    assert len({fault for fault, _, _ in select_rows(FAULTS, "")}) == len(FAULTS)


@pytest.mark.parametrize(
    ("status", "page", "words", "is_good"),
    [
        (0, "..\n2 passed in 1.25s\n", "2 passed", True),
        (0, ".s\n1 passed, 1 skipped, 2 warnings in 61.25s (0:01:01)\n", "1 passed, 1 skipped, 2 warnings", True),
        (0, "s\n1 skipped in 0.10s\n", "1 skipped", False),
        (1, "F.\n1 failed, 1 passed in 3.00s\nlater words\n", "1 failed, 1 passed", False),
        (4, "ERROR: not found: tests/x.py\n", "not run", False),
    ],
)
def test_the_outcome_is_what_pytest_says_last(status: int, page: str, words: str, *, is_good: bool) -> None:
    found = read_outcome(status, page)
    assert (found.words, found.is_good) == (words, is_good)
