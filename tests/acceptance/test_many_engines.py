"""Several engines on one database share the work, take over that of one which died, and end as one engine does."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE

import pytest
import pytest_asyncio

from engine import Document, Engine, Question, Scope
from engine.models import Excerpt, Extraction
from engine.storage.sql.connection import Connection
from engine.usage import UsageMeter
from tests.support.engine_fixture import doc
from tests.support.engine_process import OPTIONS
from tests.support.fake_embedder import HashEmbedder
from tests.support.patience import PATIENCE
from tests.support.toy_language import ToyLanguage

SPACES = ("here", "there", "elsewhere")
EVERYTHING = Scope.of(*SPACES)
NAMES = ("Ada", "Bob", "Cleo", "Dora", "Edda", "Finn", "Gale", "Hugo", "Iris", "Jan")


class CountingLanguage(ToyLanguage):
    """Counts how often each text is extracted; an extraction takes a moment."""

    def __init__(self, counts: Counter[str]) -> None:
        super().__init__()
        self.counts = counts

    async def extract(self, excerpt: Excerpt, meter: UsageMeter) -> Extraction:
        self.counts[excerpt.text] += 1
        await asyncio.sleep(0.002)
        return await super().extract(excerpt, meter)


def documents(count: int) -> list[Document]:
    """Documents of three spaces about the same names; some texts come twice in a space."""
    texts = [
        f"{NAMES[n % 10]} met {NAMES[n // 3 % 10]} and {NAMES[n // 7 % 10]} in week {n % (count * 3 // 4)}."
        for n in range(count)
    ]
    return [doc(f"d{n}", text, space=SPACES[n % 3], room=f"room {n % 3}") for n, text in enumerate(texts)]


def opened(home: Path, url: str, language: ToyLanguage | None = None) -> AbstractAsyncContextManager[Engine]:
    options = replace(OPTIONS, database=url)
    return Engine.open(home, language=language or ToyLanguage(), embedder=HashEmbedder(), options=options)


async def export(engine: Engine) -> list[str]:
    return [line async for line in engine.maintenance.export("jsonl", EVERYTHING)]


async def export_of_one(home: Path, added: list[Document]) -> list[str]:
    """The export of a single engine on files."""
    async with opened(home, "") as engine:
        for document in added:
            await engine.documents.add(document)
        await engine.wait_until_indexed()
        return await export(engine)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def export_of_60(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return await export_of_one(tmp_path_factory.mktemp("one") / "files", documents(60))


@pytest.mark.long
async def test_two_engines_share_the_work_and_end_as_one_does(tmp_path: Path, postgres_url: str) -> None:
    added, counts, alone = documents(60), Counter[str](), Counter[str]()
    one, two = CountingLanguage(counts), CountingLanguage(counts)
    async with opened(tmp_path / "1", postgres_url, one) as first, opened(tmp_path / "2", postgres_url, two) as second:
        await asyncio.gather(*((first if n % 2 else second).documents.add(each) for n, each in enumerate(added)))
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(first.wait_until_indexed(), second.wait_until_indexed())
        assert min(one.calls["extract"], two.calls["extract"]) > 0
        for engine in (first, second):
            assert (await engine.maintenance.verify()).is_clean
            assert {each.status for each in await engine.documents.list(EVERYTHING)} == {"indexed"}
        found = await export(second)
        assert await first._ledger.read(list_claims) == []
    async with opened(tmp_path / "files", "", CountingLanguage(alone)) as engine:
        for each in added:
            await engine.documents.add(each)
        await engine.wait_until_indexed()
        assert found == await export(engine)
    assert counts == alone


def list_claims(db: Connection) -> list[object]:
    statement = "SELECT id FROM stale_key WHERE claimed_by IS NOT NULL UNION ALL SELECT chunk FROM extraction_claim"
    return db.execute_fetchall(statement)


@asynccontextmanager
async def engine_process(home: Path, url: str, fault: str) -> AsyncIterator[asyncio.subprocess.Process]:
    command = (sys.executable, "-m", "tests.support.engine_process", str(home), url, fault)
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        assert await process.stdout.readline() == b"ready\n"
    yield process
    if process.returncode is None:
        process.kill()
        await process.wait()


@pytest.mark.long
@pytest.mark.parametrize(
    "step",
    [
        "ledger.finish_embedding,2,before,0",
        "ledger.save_extractions,2,before,0",
        "ledger.save_batch,2,after,0",
        "ledger.finish_batch,2,before,0",
    ],
)
async def test_an_engine_finishes_the_work_of_one_that_died(
    tmp_path: Path, postgres_url: str, export_of_60: list[str], step: str
) -> None:
    added = documents(60)
    async with (
        opened(tmp_path / "1", postgres_url) as engine,
        engine_process(tmp_path / "2", postgres_url, step) as other,
    ):
        for document in added:
            await engine.documents.add(document)
        async with asyncio.timeout(PATIENCE):
            assert await other.wait() == -9
            await engine.wait_until_indexed()
        assert engine.processes.taken_over == 1
        assert (await engine.maintenance.verify()).is_clean
        assert await export(engine) == export_of_60


@pytest.mark.long
async def test_what_one_engine_forgets_no_other_finds(tmp_path: Path, postgres_url: str) -> None:
    question = Question("Whom did Ada meet?", Scope.of("here"), low=("Ada",), high=("Ada",))
    async with opened(tmp_path / "1", postgres_url) as first, opened(tmp_path / "2", postgres_url) as second:
        for round_ in range(3):
            await first.documents.add(doc("secret", f"Ada met Bob in week {round_}."))
            await second.wait_until_indexed()
            assert [source.document for source in (await second.retrieve(question)).sources] == ["secret"]
            answer = await second.ask(question)
            assert "Bob" in "".join([piece async for piece in answer])
            await first.documents.forget("secret")
            context = await second.retrieve(question)
            assert (context.sources, context.entities, context.relations) == ((), (), ())
            answer = await second.ask(question)
            assert "Bob" not in "".join([piece async for piece in answer])


@pytest.mark.long
async def test_the_backlog_of_a_space_holds_up_no_other(tmp_path: Path, postgres_url: str) -> None:
    for url in ("", postgres_url):
        counts = Counter[str]()
        language = CountingLanguage(counts)
        language.gate.clear()
        async with opened(tmp_path / (url[:4] or "files"), url, language) as engine:
            await engine.documents.add(
                doc("backlog", *(f"{'Ada met Bob. ' * 90} {n}" for n in range(500)), space="there")
            )
            await language.wait_for_calls("extract", 1)
            await engine.documents.add(doc("single", "Cleo met Dora.", space="here"))
            language.gate.set()
            async with asyncio.timeout(PATIENCE):
                while "Cleo met Dora." not in counts:
                    await language.wait_for_calls("extract", language.calls["extract"] + 1)
            assert language.calls["extract"] < 30
