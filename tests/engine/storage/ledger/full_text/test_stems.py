"""Other forms of a word are found by stems, in both databases alike; the same form comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.clock import SYSTEM_CLOCK
from engine.storage.ledger import Ledger
from engine.storage.ledger.full_text import update
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.ledger.queries.search import Search
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture
from tests.support.engine_fixture import doc

TEXTS = {
    "other": "Die Häuser am Kanal wurden nicht verkauft.",
    "same": "Das Haus am Kanal wurde nicht verkauft.",
    "french": "Les décisions sont prises par le conseil.",
    "russian": "Лодки стоят в гавани.",
    "english": "The trees by the harbor are old.",
}
QUESTIONS = {
    "Haus": ["same", "other"],
    "Häusern": ["same", "other"],
    "décision": ["french"],
    "лодка": ["russian"],
    "tree": ["english"],
}


async def find(ledger: LedgerFixture, question: str) -> dict[str, float]:
    found = (await ledger.read(Search.search_chunks, question, 9, await ledger.scope_ids())).scores
    keys = dict(await ledger.rows("SELECT c.id, d.key FROM chunk c JOIN document d ON d.id = c.document"))
    scores: dict[str, float] = {}
    for id_, score in found.items():
        scores.setdefault(keys[id_], score)
    return scores


async def test_other_forms_of_a_word_are_found(ledger: LedgerFixture) -> None:
    for key, text in TEXTS.items():
        await ledger.add(doc(key, text))
    found = {question: await find(ledger, question) for question in QUESTIONS}
    assert {question: set(scores) for question, scores in found.items()} == {
        question: set(keys) for question, keys in QUESTIONS.items()
    }
    assert list(found["Haus"]) == QUESTIONS["Haus"]
    scope = await ledger.scope_ids()
    assert await ledger.read(Search.find_unknown_words, "Häusern Kähnen", scope) == ["kähnen"]


async def test_both_databases_give_the_same_scores(tmp_path: Path, postgres_url: str) -> None:
    scores = []
    for opened in (
        await Ledger.open(tmp_path / "ledger.db", clock=SYSTEM_CLOCK),
        await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK),
    ):
        ledger = LedgerFixture(opened)
        for key, text in TEXTS.items():
            await ledger.add(doc(key, text))
        scores.append([await find(ledger, question) for question in QUESTIONS])
        await opened.close()
    assert scores[0] == scores[1]


async def test_an_index_of_trigrams_holds_no_stems(tmp_path: Path) -> None:
    ledger = LedgerFixture(await Ledger.open(tmp_path / "ledger.db", "trigram", clock=SYSTEM_CLOCK))
    await ledger.add(doc("other", TEXTS["other"]))
    assert set(await ledger.column("SELECT stems FROM chunk")) == {""}
    await ledger.ledger.close()


async def test_chunks_of_before_get_stems_step_by_step(ledger: LedgerFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, text in TEXTS.items():
        await ledger.add(doc(key, text))
    await ledger.execute("UPDATE chunk SET stems = ''")
    await ledger.execute("DELETE FROM stem_language")
    assert set(await find(ledger, "Haus")) == {"same"}
    monkeypatch.setattr(update, "BATCH", 2)
    assert await ledger.ledger.full_text.has_old_stems()
    await ledger.forget("russian")
    while await ledger.ledger.full_text.stem_next_batch():
        pass
    assert not await ledger.ledger.full_text.has_old_stems()
    assert set(await find(ledger, "Haus")) == {"same", "other"}
    assert await ledger.column("SELECT language FROM stem_language ORDER BY language") == ["de", "fr"]
    for key in TEXTS:
        await ledger.forget(key)
    assert await find(ledger, "Haus") == {}


async def test_what_trigrams_indexed_before_there_were_stems_is_deleted(tmp_path: Path) -> None:
    ledger = LedgerFixture(await Ledger.open(tmp_path / "ledger.db", "trigram", clock=SYSTEM_CLOCK))
    await ledger.add(doc("other", TEXTS["other"]))
    await ledger.execute("INSERT INTO chunk_fts (chunk_fts) VALUES ('delete-all')")
    await ledger.execute("INSERT INTO chunk_fts (rowid, text) SELECT id, search_text(text) FROM chunk")
    await ledger.forget("other")
    await ledger.ledger.check_integrity()
    await ledger.ledger.close()


async def test_a_run_of_very_many_letters_has_no_stem_and_is_stored(ledger: LedgerFixture) -> None:
    await ledger.add(doc("long", f"Das Haus am Kanal wurde nicht verkauft, {'acgt' * 700} und so weiter."))
    assert set(await find(ledger, "Häuser")) == {"long"}
