"""What a model did not read is named, never taken as read, and read again on request and by another model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.llm.remote_model import LiteLLMModel
from tests.engine.llm.stub_provider import StubProvider
from tests.support.engine_fixture import HERE, doc, open_memory_engine
from tests.support.openai_server import Fault, OpenAIServer

ROW = "entity<|#|>Vera<|#|>person<|#|>Vera mends nets."
LONG = "\n\n".join(f"Vera mends net number {number} in the shed by the mole." for number in range(20))
PROSE = "Please provide the text."


@pytest.fixture
async def stub() -> AsyncIterator[StubProvider]:
    async with OpenAIServer(lambda _: f"{ROW}\n<|COMPLETE|>") as server:
        stub = StubProvider(server)
        yield stub
        for client in stub.clients:
            await client.close()


def open_language(stub: StubProvider, model: str = "openai/stub") -> LiteLLMModel:
    return stub.language(model, gleaning="off", batch_token_limit=0)


async def count_entities(engine: Engine) -> int:
    return (await engine.maintenance.get_status(HERE)).entities


async def test_a_text_that_gave_nothing_is_listed_and_read_again_on_request(tmp_path: Path, stub: StubProvider) -> None:
    stub.reply(PROSE)
    async with open_memory_engine(tmp_path, open_language(stub)) as engine:
        await engine.documents.add(doc("nets", "Vera mends nets."))
        await engine.wait_until_indexed()
        [problem] = await engine.maintenance.list_index_problems(HERE)
        assert (problem.key, problem.outcome, problem.chunks) == ("nets", "rowless", 1)
        assert "gave nothing for this text: “Please provide the text.”" in problem.error
        assert await engine.maintenance.count_incomplete() == {"rowless": 1}
        assert any("gave nothing" in each for each in await engine.maintenance.list_problems())
        assert [document.status for document in await engine.documents.list(HERE)] == ["searchable"]
        assert stub.request_count == 3
        stub.reply(f"{ROW}\n<|COMPLETE|>")
        assert await engine.maintenance.retry() == 1
        await engine.wait_until_indexed()
        assert await engine.maintenance.list_index_problems(HERE) == []
        assert [document.status for document in await engine.documents.list(HERE)] == ["indexed"]
        assert await count_entities(engine) == 1


async def test_it_is_read_again_after_a_change_of_model_but_not_at_every_start(
    tmp_path: Path, stub: StubProvider
) -> None:
    stub.reply(PROSE)
    async with open_memory_engine(tmp_path, open_language(stub)) as engine:
        await engine.documents.add(doc("nets", "Vera mends nets."))
        await engine.wait_until_indexed()
    async with open_memory_engine(tmp_path, open_language(stub)) as engine:
        await engine.wait_until_indexed()
    assert stub.request_count == 3
    stub.reply(f"{ROW}\n<|COMPLETE|>")
    async with open_memory_engine(tmp_path, open_language(stub, "openai/other")) as engine:
        await engine.wait_until_indexed()
        assert await count_entities(engine) == 1
        assert await engine.maintenance.count_incomplete() == {}


async def test_facts_of_a_reply_that_stays_cut_off_are_kept_until_others_replace_them(
    tmp_path: Path, stub: StubProvider
) -> None:
    stub.reply(f"{ROW}\nentity<|#|>She")
    stub.server.outage = Fault("length")
    async with open_memory_engine(tmp_path, open_language(stub)) as engine:
        await engine.documents.add(doc("nets", LONG))
        await engine.wait_until_indexed()
        assert await count_entities(engine) == 1
        [problem] = await engine.maintenance.list_index_problems(HERE)
        assert (problem.outcome, "cut off" in problem.error) == ("cut_off", True)
        spent = stub.request_count
        await engine.documents.add(doc("copy", LONG))
        await engine.wait_until_indexed()
        assert stub.request_count > spent, "what is incomplete is not reused"
        stub.server.outage = None
        stub.reply(f"{ROW.replace('Vera', 'Nora')}\n<|COMPLETE|>")
        await engine.maintenance.retry()
        await engine.wait_until_indexed()
        assert await engine.maintenance.list_index_problems(HERE) == []
        assert await engine.graph.find_names("", HERE) == ["Nora"]


async def test_a_text_that_states_nothing_is_read_once(tmp_path: Path, stub: StubProvider) -> None:
    stub.reply("<|COMPLETE|>")
    async with open_memory_engine(tmp_path, open_language(stub)) as engine:
        for key in ("one", "two"):
            await engine.documents.add(doc(key, "Well, well."))
            await engine.wait_until_indexed()
        assert stub.request_count == 2
        assert await engine.maintenance.list_index_problems(HERE) == []
