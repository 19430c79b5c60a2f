"""Statements of ingest, questions and deletions read the partitions of their spaces only, and no large table whole."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import get_args

import psycopg
import pytest

from engine import Engine, EngineOptions
from engine.models import Question, RetrievalMode, Scope
from engine.projection.postgres_storage import PARTITIONS
from engine.storage.vectors.base import VectorTable
from tests.support.engine_fixture import doc
from tests.support.fake_embedder import HashEmbedder
from tests.support.recorded_statements import EXPLAINED, Statement, explainer, recording
from tests.support.toy_language import ToyLanguage

ASKED = ("red", "blue")
OTHERS = tuple(f"other {number}" for number in range(6))
# A chunk may have moved to another space since it was embedded, and what is gone has no space anymore: old vectors are
# deleted by their ids, with one look at the index of each partition.
BY_ID = 'DELETE FROM "vector_'
SMALL = {"meta", "space", "room", "process", "pg_class"}  # tables with few rows
# Indexes of which the first row is read; and one that a hash of all rows is made from, while there are few.
# The few rows of outdated_extraction are joined with chunks: among as few chunks by reading the index of both.
PART = {"stale_key_first_generation", "embedding_failure_pkey", "mention_pkey"}


def is_planned(statement: Statement) -> bool:
    return statement.text.lstrip("( ").upper().startswith(EXPLAINED)


async def live(engine: Engine) -> None:
    """Documents of two spaces, questions of each mode, and a deletion."""
    for number in range(4):
        text = f"Ada met Bob {number}."
        await engine.documents.add(
            doc(f"d{number}", text, "Bob wrote to Carla.", space=ASKED[number % 2], room=f"r{number}")
        )
    await engine.wait_until_indexed()
    for mode in get_args(RetrievalMode):
        scope = Scope(frozenset(ASKED), frozenset())
        question = Question("Whom did Ada meet?", scope, mode=mode, high=("met",), low=("Ada",))
        assert (await engine.retrieve(question)).sources or mode == "bypass"
    await engine.documents.forget("d0")
    await engine.wait_until_indexed()


def map_partitions(url: str, table: str) -> dict[int, str]:
    """The partition of a table where the rows of each space belong."""
    with psycopg.connect(url) as raw:
        rows = raw.execute(
            "SELECT s.id, c.relname FROM threadlore_ledger.space s CROSS JOIN pg_inherits i"
            " JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = %(table)s::regclass AND"
            " satisfies_hash_partition(i.inhparent, %(count)s, substring(c.relname from '[0-9]+$')::int, s.id::int)",
            {"table": table, "count": PARTITIONS},
        ).fetchall()
    return dict(rows)


@pytest.mark.long
async def test_hot_statements_read_the_partitions_of_their_spaces_by_indexes(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = EngineOptions(database=postgres_url, suggest_duplicates=False, vector_cache_bytes=0)
    with recording(monkeypatch) as recorder:
        async with Engine.open(
            tmp_path / "home", language=ToyLanguage(), embedder=HashEmbedder(), options=options
        ) as engine:
            for number, space in enumerate(OTHERS):
                await engine.documents.add(doc(f"o{number}", "Ada met Dora.", "Dora wrote to Zoe.", space=space))
            await engine.wait_until_indexed()
            recorder.statements.clear()
            await live(engine)
            statements = [statement for statement in recorder.statements if is_planned(statement)]
    tables = [map_partitions(postgres_url, f"threadlore_vectors.vector_{kind}") for kind in get_args(VectorTable)]
    assert all(len(set(table.values())) > 3 for table in tables)
    outside, counts, whole = set[str](), Counter[int](), dict[str, set[str]]()
    with explainer(postgres_url) as explain:
        for statement in statements:
            plan = explain(statement)
            few = SMALL | PART | ({"chunk_pkey"} if "outdated_extraction" in statement.text else set())
            if large := {name for name in plan.whole - few if not name.startswith("pg_")}:
                whole[statement.text] = large
            found = {name for name in plan.relations if name[-1].isdigit()}
            spaces = (
                []
                if statement.is_raw
                else statement.parameters.get("spaces") or statement.parameters.get("space") or []
            )
            counts[len(found)] += 1
            if not found <= {table[space] for space in spaces for table in tables} and not statement.text.startswith(
                BY_ID
            ):
                outside.add(statement.text)
    assert outside == set()
    assert whole == {}
    assert min(counts[1], counts[2]) > 0, counts  # fewer, larger statements on a busy machine
