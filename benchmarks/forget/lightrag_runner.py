"""LightRAG with its own defaults through one history; runs in an environment of its own.

`python -m benchmarks.forget.lightrag_runner HISTORY HOME` prints what its readers got, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc

from benchmarks.forget.history import SPACES, History, Step, load_history
from benchmarks.forget.skills import DIM, END, embed, extract, summarize
from benchmarks.peer.lightrag_runner import EXTRACTION, SUMMARY, cut_fenced
from benchmarks.peer.runner import take_stdout

MODES = ("mix", "local", "naive")


async def complete(
    prompt: str,
    system_prompt: str | None = None,
    history_messages: Sequence[Mapping[str, str]] | None = None,
    **_: object,
) -> str:
    """The stub model. An answer is all that the model was given: what reaches it could be said."""
    if (text := cut_fenced(prompt, EXTRACTION)) is not None:
        return END if history_messages else extract(text)
    if history_messages:
        return END
    if (lines := cut_fenced(prompt, SUMMARY)) is not None:
        return summarize(json.loads(line)["Description"] for line in lines.splitlines())
    return system_prompt or prompt


async def embed_later(texts: list[str]) -> np.ndarray:
    return embed(texts)


def open_memory(home: Path, space: str) -> LightRAG:
    """One space: a workspace of LightRAG."""
    return LightRAG(
        working_dir=str(home),
        workspace=space,
        llm_model_func=complete,
        llm_model_name="stub",
        embedding_func=EmbeddingFunc(embedding_dim=DIM, func=embed_later, model_name="hash"),
    )


async def apply(memory: LightRAG, step: Step) -> None:
    """Carry out a step; an edit is a deletion and an insertion, since a known document is refused."""
    if step.action in {"edit", "delete"}:
        done = await memory.adelete_by_doc_id(step.document, delete_llm_cache=True)
        if done.status != "success":
            raise RuntimeError(done.message)
    if step.action in {"edit", "add"}:
        await memory.ainsert([step.text], ids=[step.document], file_paths=[f"{step.document}.txt"])


async def ask_all(memories: Mapping[str, LightRAG], history: History) -> dict[str, dict[str, list[str]]]:
    """What each question got in each space: answers, and what was retrieved; then the graph."""
    found = dict[str, dict[str, list[str]]]()
    for space, memory in memories.items():
        answers, retrieved = list[str](), list[str]()
        for fact in history.list_facts(space):
            for mode in MODES:
                keywords = QueryParam(
                    mode=mode, ll_keywords=[fact.person], hl_keywords=[fact.thing], enable_rerank=False
                )
                answers.append(str(await memory.aquery(fact.question, keywords)))
                retrieved.append(json.dumps(await memory.aquery_data(fact.question, keywords)))
        nodes = await memory.chunk_entity_relation_graph.get_all_nodes()
        edges = await memory.chunk_entity_relation_graph.get_all_edges()
        found[space] = {"answers": answers, "retrieval": retrieved, "graph": [json.dumps([nodes, edges])]}
    return found


async def run(history: History, home: Path) -> dict[str, dict[str, list[str]]]:
    memories = {space: open_memory(home, space) for space in SPACES}
    for memory in memories.values():
        await memory.initialize_storages()
    for step in history.added:
        await apply(memories[step.space], step)
    await ask_all(memories, history)
    for step in history.changes:
        await apply(memories[step.space], step)
    found = await ask_all(memories, history)
    for memory in memories.values():
        await memory.finalize_storages()
    return found


if __name__ == "__main__":
    replies = take_stdout()
    logging.getLogger("lightrag").setLevel(logging.WARNING)
    print(json.dumps(asyncio.run(run(load_history(Path(sys.argv[1])), Path(sys.argv[2])))), file=replies, flush=True)
