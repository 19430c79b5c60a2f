from __future__ import annotations

from pathlib import Path

from engine.ingest.language_count import count_now
from engine.llm.e5.spoken import load_spoken
from tests.support.engine_fixture import doc, open_memory_engine

GERMAN = "Das Boot hat ein Leck, und wir müssen es noch heute flicken.\n" * 3
ENGLISH = "The pump is in the shed, but there is no fuel for it.\n" * 3


async def test_what_is_said_chooses_the_languages_of_the_next_start(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        for number in range(20):
            await engine.documents.add(doc(f"d{number}", f"{GERMAN if number % 2 else ENGLISH}Text {number}."))
        found = await count_now(engine._runtime, tmp_path)
        assert found.lines == 60
        assert sorted(found.chosen) == ["de", "en"]
        assert load_spoken(tmp_path) == found
        texts = await engine._ledger.stats.sample_texts(6)
        assert len(texts) == len(set(texts)) > 6  # the newest, and others
