"""The term index of PostgreSQL has the terms, frequencies and orders of the one of SQLite."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.clock import SYSTEM_CLOCK
from engine.storage.ledger import Ledger
from engine.storage.ledger.database import FtsTokenizer
from engine.storage.ledger.full_text import fts5, tsvector
from engine.storage.ledger.full_text.index import SearchWord
from engine.storage.ledger.full_text.tsvector import MAX_PLACES, RANKS, count_places
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.ledger.queries.search import Search
from engine.storage.ledger.records.projection import KeyKind
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture
from tests.support.engine_fixture import doc

# Apart from the endings of words with letters beyond ASCII, which FTS5 cuts as if they were ASCII.
_TEXT = """
    sailing harbors relational ponies caresses agreed hopping conditional Müller naïve ÅNGSTRÖM ŁÓDŹ
    港湾 Москва α-helix e.g. example.com https://a.b/c?d=1 a_b x86_64 3.14 1e5 2026-11-20 C++ #hall @ada
    don't “quoted” 50% 日本。語 co—op x/y a&b ﬁne fußball 12:30 foo@bar.org /usr/bin -5 0x1F v2.0
"""
WORDS = _TEXT.split()


async def test_words_become_the_terms_that_fts5_makes(postgres_ledger_url: str) -> None:
    ledger = await PostgresLedger.open(postgres_ledger_url, clock=SYSTEM_CLOCK)
    made = await ledger.read(tsvector.tokenize_words, "", WORDS)
    expected = await ledger.read(fts5.tokenize_words, "porter unicode61", WORDS)
    await ledger.close()
    assert dict(zip(WORDS, made, strict=True)) == dict(zip(WORDS, expected, strict=True))


@pytest.mark.parametrize("tokenizer", ["porter unicode61", "trigram"])
async def test_a_search_gives_the_scores_of_sqlite(tmp_path: Path, postgres_url: str, tokenizer: FtsTokenizer) -> None:
    texts = [f"ferry {'harbor ' * (n % 5)} 港の船 number{n} {'sail ' * (n % 3)} O'Hara \\ path" for n in range(12)]
    scores = []
    for opened in (
        await Ledger.open(tmp_path / "ledger.db", tokenizer, clock=SYSTEM_CLOCK),
        await PostgresLedger.open(postgres_url, tokenizer, clock=SYSTEM_CLOCK),
    ):
        ledger = LedgerFixture(opened)
        for number, text in enumerate(texts):
            await ledger.add(doc(f"d{number}", text))
        scope = await ledger.scope_ids()
        keys = dict(await ledger.rows("SELECT id, key FROM chunk"))
        for question in ("harbor sail", "港の船", "number3", "o'hara", "ferry"):
            found = (await ledger.read(Search.search_chunks, question, 5, scope)).scores
            scores.append({keys[id_]: score for id_, score in found.items()})
        await opened.close()
    assert scores[:5] == scores[5:]
    assert all(map(bool, scores))


async def test_frequencies_follow_from_ranks(postgres_ledger_url: str) -> None:
    assert [count_places(rank) for rank in RANKS] == list(range(1, MAX_PLACES + 1))
    ledger = LedgerFixture(await PostgresLedger.open(postgres_ledger_url, clock=SYSTEM_CLOCK))
    counts = (1, 2, 3, 7, 40, 200, 255, 300)
    for count in counts:
        await ledger.add(doc(f"d{count}", f"text {count}"))
        changed = "UPDATE chunk SET text = ? WHERE text = ?"
        await ledger.execute(changed, parameters=("ferry " * count + "other words", f"text {count}"))
    [found] = await ledger.read(tsvector.load_postings, KeyKind.CHUNK, [SearchWord("ferry", ("ferri",))], "true")
    assert sorted(found.times) == [min(count, 255) for count in counts]
    await ledger.ledger.close()
