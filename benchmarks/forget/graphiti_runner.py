"""graphiti with its embedded store through one history; runs in an environment of its own.

`python -m benchmarks.forget.graphiti_runner HISTORY HOME` prints what its readers got, as JSON. A document is an
episode, a space a group; to edit a document is to remove its episode and to add another one.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.forget.history import HUB, SPACES, History, Step, load_history
from benchmarks.forget.skills import DIM, FACT, embed
from benchmarks.peer.runner import take_stdout

START, TOP_K = datetime(2026, 3, 1, tzinfo=UTC), 20


def reply(schema: str, prompt: str) -> dict[str, Any]:
    """What the model says by the name of the schema that it is asked for; nothing is a duplicate or contradicted."""
    facts = list(dict.fromkeys(FACT.findall(prompt)))
    found = [f"{person} keeps the {thing} of {hub} under the word {word}." for person, thing, hub, word in facts]
    people = list(dict.fromkeys(person for person, *_ in facts))
    entities = [{"name": name, "entity_type_id": 0} for name in (*people, HUB)] if people else []
    edges = [
        {"source_entity_name": person, "target_entity_name": hub, "relation_type": "KEEPS", "fact": sentence}
        for (person, _, hub, _), sentence in zip(facts, found, strict=True)
    ]
    known: dict[str, dict[str, Any]] = {
        "ExtractedEntities": {"extracted_entities": entities},
        "ExtractedEdges": {"edges": edges},
        "CombinedExtraction": {"extracted_entities": entities, "edges": edges},
        "NodeResolutions": {"entity_resolutions": []},
        "EdgeDuplicate": {"duplicate_facts": [], "contradicted_facts": []},
        "EdgeTimestamps": {"valid_at": None, "invalid_at": None},
        "BatchEdgeTimestamps": {"timestamps": [{"valid_at": None, "invalid_at": None} for _ in facts]},
        "SummarizedEntities": {
            "summaries": [
                {"name": name, "summary": " ".join(each for each in found if name in each)} for name in (*people, HUB)
            ]
        },
        "EntitySummary": {"summary": " ".join(found)},
    }
    return known.get(schema, {})


def open_memory(home: Path) -> Any:
    """The memory with its embedded store."""
    os.environ.update(GRAPHITI_TELEMETRY_ENABLED="false", EMBEDDING_DIM=str(DIM), OPENAI_API_KEY="none")
    from graphiti_core import Graphiti  # noqa: PLC0415 - it reads the environment when it is loaded
    from graphiti_core.cross_encoder.client import CrossEncoderClient  # noqa: PLC0415
    from graphiti_core.driver.kuzu_driver import KuzuDriver  # noqa: PLC0415
    from graphiti_core.embedder.client import EmbedderClient  # noqa: PLC0415
    from graphiti_core.llm_client.client import LLMClient  # noqa: PLC0415
    from graphiti_core.llm_client.config import LLMConfig  # noqa: PLC0415

    class Model(LLMClient):  # type: ignore[misc]
        async def _generate_response(self, messages: Any, response_model: Any = None, *_: Any, **__: Any) -> Any:
            text = "\n".join(message.content for message in messages).replace("\\n", "\n")  # texts stand there in JSON
            return reply(response_model.__name__ if response_model else "", text)

    class Embedder(EmbedderClient):  # type: ignore[misc]
        async def create(self, input_data: Any) -> list[float]:
            text = input_data if isinstance(input_data, str) else input_data[0]
            return [float(number) for number in embed([text])[0]]

        async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
            return [[float(number) for number in row] for row in embed(input_data_list)] if input_data_list else []

    class Ranker(CrossEncoderClient):  # type: ignore[misc]
        async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
            del query
            return [(passage, 1.0) for passage in passages]

    class Driver(KuzuDriver):  # type: ignore[misc]
        _database = ""  # episodes of a group read it, and the released one lacks it

    driver = Driver(str(home / "graph.kuzu"))
    return Graphiti(graph_driver=driver, llm_client=Model(LLMConfig()), embedder=Embedder(), cross_encoder=Ranker())


async def create_indexes(memory: Any) -> None:
    """Create the indexes of full text, which the released driver of the embedded store leaves out."""
    from graphiti_core.graph_queries import get_fulltext_indices  # noqa: PLC0415 - as above

    for query in get_fulltext_indices(memory.driver.provider):
        await memory.driver.execute_query(query)


async def apply(memory: Any, episodes: dict[str, str], step: Step, number: int) -> None:
    """Carry out a step; `episodes`: of each document."""
    if step.action in {"edit", "delete"}:
        await memory.remove_episode(episodes.pop(step.document))
    if step.action in {"edit", "add"}:
        at = START + timedelta(minutes=number)
        added = await memory.add_episode(
            step.document, step.text, "a document", at, group_id=step.space, previous_episode_uuids=[]
        )
        episodes[step.document] = added.episode.uuid


async def list_all(memory: Any, space: str) -> list[str]:
    """All entities with their summaries, and all facts."""
    queries = (
        "MATCH (n:Entity) WHERE n.group_id = $space RETURN n.name, n.summary",
        "MATCH (n:RelatesToNode_) WHERE n.group_id = $space RETURN n.fact",
    )
    found = list[str]()
    for query in queries:
        rows, _, _ = await memory.driver.execute_query(query, space=space)
        found += [json.dumps(row, default=str) for row in rows or []]
    return found


async def ask_all(memory: Any, history: History) -> dict[str, dict[str, list[str]]]:
    """What each question got in each space: its answer is what is found, since graphiti writes none."""
    found = dict[str, dict[str, list[str]]]()
    for space in SPACES:
        results = list[str]()
        for fact in history.list_facts(space):
            edges = await memory.search(fact.question, group_ids=[space], num_results=TOP_K)
            results.append("\n".join(edge.fact for edge in edges))
        found[space] = {"answers": results, "retrieval": results, "graph": await list_all(memory, space)}
    return found


async def run(history: History, home: Path) -> dict[str, dict[str, list[str]]]:
    memory, episodes = open_memory(home), dict[str, str]()
    await memory.build_indices_and_constraints()
    await create_indexes(memory)
    for number, step in enumerate(history.added):
        await apply(memory, episodes, step, number)
    await ask_all(memory, history)
    for number, step in enumerate(history.changes, len(history.added)):
        await apply(memory, episodes, step, number)
    found = await ask_all(memory, history)
    await memory.close()
    return found


if __name__ == "__main__":
    replies = take_stdout()
    print(json.dumps(asyncio.run(run(load_history(Path(sys.argv[1])), Path(sys.argv[2])))), file=replies, flush=True)
