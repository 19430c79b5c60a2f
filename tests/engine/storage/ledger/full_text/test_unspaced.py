from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.clock import SYSTEM_CLOCK
from engine.storage.ledger import Ledger
from engine.storage.ledger import database as database_of_files
from engine.storage.ledger.full_text import update
from engine.storage.ledger.full_text.fts5 import PRIVATE, segment
from engine.storage.ledger.postgres import ledger as database_of_servers
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.ledger.queries.search import Search
from engine.storage.ledger.schema import SOURCE
from engine.storage.sql.connection import Connection
from engine.storage.sql.fragments import text_list
from engine.text.languages.unspaced import has_unspaced, list_query_terms, split_unspaced
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction
from tests.support.engine_fixture import doc
from tests.support.former_versions import FormerSource


@pytest.mark.parametrize(
    ("text", "rest", "terms"),
    [
        pytest.param("The ferry", "The ferry", [], id="English"),
        pytest.param("부산에서 배가 떠난다", "부산에서 배가 떠난다", [], id="Korean has spaces"),
        pytest.param("猫が好き。", " 。", ["猫", "好", "猫が", "が好", "好き"], id="Japanese"),
        pytest.param("第3回iPhone展", " 3 iPhone ", ["第", "回", "展"], id="mixed with digits and Latin"),
        pytest.param("ﾌｪﾘｰ", " ", ["フェ", "ェリ", "リー"], id="half-width katakana"),
        pytest.param("ที่นี่", " ", ["ที่", "นี่", "ที่นี่"], id="Thai marks stay with their letters"),
        pytest.param("ខ្ញុំ", " ", ["ខ្ញុំ"], id="Khmer marks join consonants"),
    ],
)
def test_a_text_is_its_words_and_the_pairs_of_its_runs(text: str, rest: str, terms: list[str]) -> None:
    found = split_unspaced(text)
    assert (found[0], set(terms) - set(found[1])) == (rest, set())
    assert has_unspaced(text) == bool(terms)


def test_a_question_is_searched_by_pairs_without_function_words() -> None:
    assert list_query_terms("東京はどこですか", 9) == ["東京", "京は"]
    assert list_query_terms("猫", 9) == ["猫"]
    assert list_query_terms("りんご", 9) == ["りん", "んご"]
    assert list_query_terms("仓库的钥匙在哪里", 3) == ["仓库", "库的", "的钥"]


def test_marks_do_not_end_a_term_of_the_index() -> None:
    [_, *terms] = segment("ที่นี่").split(" ")
    assert all(letter.isalpha() or ord(letter) >= PRIVATE for term in terms for letter in term)


TEXTS = {
    "warehouse": "倉庫の鍵は受付の机の引き出しにあります。",
    "ferry": "フェリーは毎朝七時に港を出発します。",
    "holiday": "春节期间办公室关闭五天。",
    "budget": "下一季度的预算由财务部决定。",
    "flood": "น้ำท่วมทำให้ถนนหน้าตลาดปิดสองวัน",
    "kitchen": "ห้องครัวอยู่ชั้นสามข้างลิฟต์",
    "english": "The ferry leaves the harbor at seven.",
}
QUESTIONS = {
    "倉庫の鍵はどこですか": "warehouse",
    "フェリーは何時に出ますか": "ferry",
    "港": "ferry",
    "春节办公室关几天": "holiday",
    "谁决定预算": "budget",
    "ถนนหน้าตลาดปิดกี่วัน": "flood",
    "ห้องครัวอยู่ที่ไหน": "kitchen",
    "when does the ferry leave": "english",
}


async def best(ledger: LedgerFixture, question: str) -> str:
    """The key of the document that matches a question best."""
    found = (await ledger.read(Search.search_chunks, question, 1, await ledger.scope_ids())).scores
    keys = "SELECT d.key FROM chunk c JOIN document d ON d.id = c.document WHERE c.id = ?"
    return "".join([key for id_ in found for key in await ledger.column(keys, id_)])


async def test_words_are_found_in_scripts_without_spaces(ledger: LedgerFixture) -> None:
    for key, text in TEXTS.items():
        await ledger.add(doc(key, text))
    assert {question: await best(ledger, question) for question in QUESTIONS} == QUESTIONS
    scores = await ledger.read(Search.score_passages, "谁决定预算", list(TEXTS.values()))
    assert [key for key, score in zip(TEXTS, scores, strict=True) if score] == ["budget"]


async def test_names_are_found_in_scripts_without_spaces(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("東京大学", "京都タワー"))
    await ledger.project()
    found = await ledger.read(Search.search_entities, "大学はどこ", 9, await ledger.scope_ids())
    assert await ledger.column(f"SELECT name FROM entity WHERE id IN ({','.join(map(str, found))})") == ["東京大学"]


async def test_both_databases_have_the_same_terms_of_all_characters(postgres_ledger_url: str) -> None:
    characters = [chr(code) for code in range(0xA0, 0x2FFFF, 7) if not 0xD800 <= code < 0xE900]
    texts = ["".join(characters[start : start + 40]) for start in range(0, len(characters), 40)]
    texts = [*filter(has_unspaced, texts), *filter(has_unspaced, TEXTS.values())]
    postgres = await PostgresLedger.open(postgres_ledger_url, clock=SYSTEM_CLOCK)

    def load_terms(db: Connection) -> list[list[str]]:
        rows = db.execute_fetchall(
            "SELECT tsvector_to_array(unspaced_vector(j.value)) FROM @list(?, j)", (text_list(texts),)
        )
        return [row[0] for row in rows]

    made = await postgres.read(load_terms)
    await postgres.close()
    assert [set(terms) for terms in made] == [set(split_unspaced(text)[1]) for text in texts]


FORMER = FormerSource(SOURCE.package, frozen=3)  # before full text knew these scripts
# What today's statements name besides.
ADD_LATER = (
    "ALTER TABLE document ADD COLUMN omissions TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE document ADD COLUMN coverage TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE alias ADD COLUMN shown TEXT NOT NULL DEFAULT ''",
    "CREATE TABLE incomplete_chunk (chunk INTEGER PRIMARY KEY, outcome TEXT)",
    "CREATE TABLE outdated_extraction (chunk INTEGER PRIMARY KEY)",
    "ALTER TABLE chunk ADD COLUMN stems TEXT NOT NULL DEFAULT ''",
    "CREATE TABLE stem_language (language TEXT PRIMARY KEY)",
    "CREATE TABLE person_name (chunk INT, hash BIGINT, evidence INT, PRIMARY KEY (chunk, hash))",
    "CREATE TABLE name_split (space INT, name TEXT, rule TEXT, part TEXT, shown TEXT, room INT, document INT)",
)
DROP_LATER = (
    *("DROP TABLE outdated_extraction", "DROP TABLE person_name"),
    *("DROP TABLE stem_language", "ALTER TABLE chunk DROP COLUMN stems"),
    *("DROP TABLE incomplete_chunk", "DROP TABLE name_split", "ALTER TABLE alias DROP COLUMN shown"),
    *("ALTER TABLE document DROP COLUMN omissions", "ALTER TABLE document DROP COLUMN coverage"),
)


def execute_all(db: Connection, statements: Iterable[str]) -> None:
    for statement in statements:
        db.execute(statement)


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
async def test_rows_of_an_earlier_version_are_indexed_again_step_by_step(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, database: str
) -> None:
    place = tmp_path / "ledger.db" if database == "sqlite" else str(request.getfixturevalue("postgres_url"))

    async def open_ledger() -> LedgerFixture:
        return LedgerFixture(
            await (
                PostgresLedger.open(place, clock=SYSTEM_CLOCK)
                if isinstance(place, str)
                else Ledger.open(place, clock=SYSTEM_CLOCK)
            )
        )

    with monkeypatch.context() as earlier:
        earlier.setattr(database_of_files, "SCHEMA", replace(database_of_files.SCHEMA, source=FORMER))
        earlier.setattr(database_of_servers, "SCHEMA", replace(database_of_servers.SCHEMA, source=FORMER))
        old = await open_ledger()
        await old.ledger.write(execute_all, ADD_LATER)
        for key, text in TEXTS.items():
            await old.add(doc(key, text))
        await old.add_facts("facts", extraction("東京大学", "Ada"))
        await old.project()
        await old.ledger.write(execute_all, DROP_LATER)
        await old.ledger.close()
    monkeypatch.setattr(update, "BATCH", 2)
    ledger = await open_ledger()
    assert await ledger.ledger.full_text.count_unsegmented() >= len(TEXTS)
    assert await best(ledger, "谁决定预算") == ""
    assert await best(ledger, "when does the ferry leave") == "english"
    await ledger.forget("holiday")  # before it is indexed again
    await ledger.add(doc("later", "図書館は九時に開きます。"))
    while await ledger.ledger.full_text.index_next_batch():
        await ledger.ledger.close()  # as after a kill: what was committed is all that is left
        ledger = await open_ledger()
    rest = {question: title for question, title in QUESTIONS.items() if title != "holiday"}
    assert {question: await best(ledger, question) for question in [*rest, "図書館"]} == rest | {"図書館": "later"}
    assert await ledger.ledger.full_text.count_unsegmented() == 0
    for key in [*TEXTS, "later", "facts"]:
        await ledger.forget(key)
    while await ledger.stale():
        await ledger.project()
    if database == "sqlite":
        assert await ledger.rows("SELECT term FROM chunk_fts_terms UNION SELECT term FROM entity_fts_terms") == []
    await ledger.ledger.close()
