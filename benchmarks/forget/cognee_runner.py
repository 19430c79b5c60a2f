"""cognee with its embedded stores through one history; runs in an environment of its own.

`python -m benchmarks.forget.cognee_runner HISTORY HOME` prints what its readers got, as JSON. A space is a dataset; to
edit a document is to forget it and to add another one.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.forget.history import SPACES, History, Step, load_history
from benchmarks.forget.skills import DIM, FACT, embed
from benchmarks.peer.runner import take_stdout

TOP_K = 20
SETTINGS = {
    "TELEMETRY_DISABLED": "true",
    "LLM_API_KEY": "none",
    "EMBEDDING_DIMENSIONS": str(DIM),
    "COGNEE_SKIP_CONNECTION_TEST": "true",
    "CACHING": "false",
    "LOG_LEVEL": "ERROR",
}


def open_memory(home: Path) -> Any:
    """The package with its stores in a folder, and the stub in place of its models."""
    os.environ.update(SETTINGS, SYSTEM_ROOT_DIRECTORY=str(home / "system"), DATA_ROOT_DIRECTORY=str(home / "data"))
    os.environ.update(HOME=str(home.parent), COGNEE_LOGS_DIR=str(home.parent / "logs"))  # no file of the user's
    import cognee  # noqa: PLC0415 - it reads the environment when it is loaded
    from cognee.infrastructure.databases.vector.embeddings import get_embedding_engine  # noqa: PLC0415
    from cognee.infrastructure.databases.vector.embeddings.EmbeddingEngine import EmbeddingResult  # noqa: PLC0415
    from cognee.infrastructure.llm.LLMGateway import LLMGateway  # noqa: PLC0415

    async def embed_text(_: object, text: Sequence[str]) -> Any:
        return EmbeddingResult([[float(number) for number in row] for row in embed(text)], len(text))

    def complete(text_input: str, system_prompt: str = "", response_model: Any = str, **_: object) -> Any:
        async def answer() -> Any:
            return build_reply(response_model, text_input)

        return answer()

    LLMGateway.acreate_structured_output = staticmethod(complete)
    engine = get_embedding_engine()
    type(engine).embed_text = embed_text
    return cognee


def build_reply(schema: Any, text: str) -> Any:
    """What the model says by the name of the schema that it is asked for: all that it is given."""
    facts = list(dict.fromkeys(FACT.findall(text)))
    sentences = [f"{person} keeps the {thing} of {hub} under the word {word}." for person, thing, hub, word in facts]
    match getattr(schema, "__name__", "str"):
        case "KnowledgeGraph":
            names = dict.fromkeys(name for person, _, hub, _ in facts for name in (person, hub))
            nodes = [
                {"id": name, "name": name, "type": "Person", "description": " ".join(s for s in sentences if name in s)}
                for name in names
            ]
            edges = [
                {"source_node_id": p, "target_node_id": hub, "relationship_name": "keeps", "description": sentence}
                for (p, _, hub, _), sentence in zip(facts, sentences, strict=True)
            ]
            return schema(nodes=nodes, edges=edges)
        case "SummarizedContent":
            return schema(summary=" ".join(sentences), description="")
        case "str":
            return text
    raise NotImplementedError(str(schema))


async def apply(memory: Any, documents: dict[str, UUID], step: Step) -> None:
    """Carry out a step; `documents`: the ids of the package."""
    if step.action in {"edit", "delete"}:
        await memory.forget(data_id=documents.pop(step.document), dataset=step.space)
    if step.action in {"edit", "add"}:
        added = await memory.add(step.text, dataset_name=step.space)
        documents[step.document] = added.data_ingestion_info[0]["data_id"]
        await memory.cognify(datasets=[step.space])


async def ask(memory: Any, question: str, kind: str, space: str, *, only_context: bool = False) -> str:
    results = await memory.search(
        question, query_type=memory.SearchType[kind], datasets=[space], top_k=TOP_K, only_context=only_context
    )
    return "\n".join(str(getattr(each, "search_result", each)) for each in results)


async def ask_all(memory: Any, history: History) -> dict[str, dict[str, list[str]]]:
    """What each question got in each space."""
    found = dict[str, dict[str, list[str]]]()
    for space in SPACES:
        questions = [fact.question for fact in history.list_facts(space)]
        found[space] = {
            "answers": [await ask(memory, each, "GRAPH_COMPLETION", space) for each in questions],
            "retrieval": [await ask(memory, each, "CHUNKS", space) for each in questions],
            "graph": [
                *[await ask(memory, each, "SUMMARIES", space) for each in questions],
                *[await ask(memory, each, "GRAPH_COMPLETION", space, only_context=True) for each in questions],
            ],
        }
    return found


async def run(history: History, home: Path) -> dict[str, dict[str, list[str]]]:
    memory, documents = open_memory(home), dict[str, UUID]()
    for step in history.added:
        await apply(memory, documents, step)
    await ask_all(memory, history)
    for step in history.changes:
        await apply(memory, documents, step)
    return await ask_all(memory, history)


if __name__ == "__main__":
    replies = take_stdout()
    print(json.dumps(asyncio.run(run(load_history(Path(sys.argv[1])), Path(sys.argv[2])))), file=replies, flush=True)
