"""mem0 with its embedded stores through one history; runs in an environment of its own.

`python -m benchmarks.forget.mem0_runner HISTORY HOME` prints what its readers got, as JSON. A document is what its
sentences become: memories that name it in their metadata. To delete it is to delete these.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.forget.history import SPACES, History, Step, load_history
from benchmarks.forget.skills import DIM, embed
from benchmarks.peer.runner import take_stdout

TOP_K, ALL = 20, 10_000


def open_memory(home: Path) -> tuple[Any, list[str]]:
    """The memory, and the sentences that its model finds in the next text."""
    os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(home / "mem0"), OPENAI_API_KEY="none")
    from mem0 import Memory  # noqa: PLC0415 - it reads the environment when it is loaded

    store = {"path": str(home / "qdrant"), "on_disk": True, "embedding_model_dims": DIM}
    memory = Memory.from_config(
        {"vector_store": {"provider": "qdrant", "config": store}, "history_db_path": str(home / "history.db")}
    )
    sentences = list[str]()

    def reply(*_: object, **__: object) -> str:
        return json.dumps({"memory": [{"text": sentence} for sentence in sentences]})

    def embed_batch(texts: Sequence[str], *_: object, **__: object) -> list[list[float]]:
        return [[float(number) for number in row] for row in embed(texts)]

    memory.llm.generate_response = reply
    memory.embedding_model.embed_batch = embed_batch
    memory.embedding_model.embed = lambda text, *_, **__: embed_batch([text])[0]
    return memory, sentences


def apply(memory: Any, sentences: list[str], step: Step) -> None:
    """Carry out a step."""
    if step.action in {"edit", "delete"}:
        for each in list_all(memory, step.space):
            if (each.get("metadata") or {}).get("document") == step.document:
                memory.delete(each["id"])
    if step.action in {"edit", "add"}:
        sentences[:] = [fact.sentence for fact in step.facts]
        memory.add([{"role": "user", "content": step.text}], user_id=step.space, metadata={"document": step.document})


def list_all(memory: Any, space: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = memory.get_all(filters={"user_id": space}, top_k=ALL)["results"]
    return found


def ask_all(memory: Any, history: History) -> dict[str, dict[str, list[str]]]:
    """What each question got in each space: its answer is what is found, since mem0 writes none."""
    found = dict[str, dict[str, list[str]]]()
    for space in SPACES:
        results = [
            json.dumps(memory.search(fact.question, filters={"user_id": space}, top_k=TOP_K), default=str)
            for fact in history.list_facts(space)
        ]
        everything = json.dumps(list_all(memory, space), default=str)
        found[space] = {"answers": results, "retrieval": results, "graph": [everything]}
    return found


def run(history: History, home: Path) -> dict[str, dict[str, list[str]]]:
    memory, sentences = open_memory(home)
    for step in history.added:
        apply(memory, sentences, step)
    ask_all(memory, history)
    for step in history.changes:
        apply(memory, sentences, step)
    found = ask_all(memory, history)
    memory.close()
    return found


if __name__ == "__main__":
    replies = take_stdout()
    print(json.dumps(run(load_history(Path(sys.argv[1])), Path(sys.argv[2]))), file=replies, flush=True)
