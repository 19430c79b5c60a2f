"""The process that is killed: goes on with the script of a seed where the acknowledgements end, then tells its state.

`python -m tests.crash.child HOME SEED [FAULT]`: HOME/data is the folder, HOME/acknowledged has a byte for each
operation that has returned, HOME/state is written at the end: JSON of what differs, of the export, of the steps taken.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from engine import Engine, Scope
from engine.projection.embedding_text import entity_text, truncate_to_tokens
from engine.storage.ledger.queries import graphml
from engine.storage.ledger.queries.lookup import resolve_scope
from engine.storage.ledger.records.projection import Profile
from engine.usage import UsageMeter
from tests.crash.faults import Fault, install_fault
from tests.crash.models import SlowEmbedder, SlowReader
from tests.crash.scenario import SPACES, apply_operation, build_options, build_script
from tests.support.engine_fixture import sql_ledger

EVERYTHING = Scope(frozenset(SPACES), frozenset())


async def run(home: Path, seed: int, steps: Counter[str]) -> None:
    acknowledged = os.open(home / "acknowledged", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    done = os.fstat(acknowledged).st_size
    skills = {"language": SlowReader(), "embedder": SlowEmbedder()}
    async with Engine.open(home / "data", options=build_options(seed), **skills) as engine:  # type: ignore[arg-type]
        for operation in build_script(seed)[done:]:
            await apply_operation(engine, operation)
            os.write(acknowledged, b".")
            os.fsync(acknowledged)
            sys.stdout.write(".\n")
            sys.stdout.flush()
        state = await conversation_state(engine)
    (home / "draft").write_text(json.dumps(state | {"steps": steps}), encoding="utf-8")
    (home / "draft").replace(home / "state")


async def conversation_state(engine: Engine) -> dict[str, object]:
    """Whether what stands in a conversation was read before it was opened again is a matter of time: all are closed."""
    for document in await engine.list_documents(EVERYTHING):
        await engine.amend(document.key, is_open=False)
    await engine.wait_until_indexed()
    report = await engine.verify()
    export = [line async for line in engine.export("jsonl", EVERYTHING)]
    await engine.compact()
    differences = [str(each) for each in report.differences] + await find_wrong_vectors(engine)
    return {"differences": differences, "export": export}


async def find_wrong_vectors(engine: Engine) -> list[str]:
    """Entities whose vector is not the one of their text."""
    runtime = engine._runtime
    async with sql_ledger(runtime.ledger).read_connection() as db:
        rows = [row async for row in graphml.stream_entities(db, await resolve_scope(db, EVERYTHING))]
    texts = {id_: entity_text(Profile(id_, 0, name, description, 0)) for id_, name, _, description, *_ in rows}
    clipped = [truncate_to_tokens(text, runtime.embedder.max_tokens, runtime.tokenizer) for text in texts.values()]
    wanted = dict(zip(texts, await runtime.embedder.embed(clipped, UsageMeter()), strict=True))
    found = await runtime.vectors.fetch("entities", texts)
    return [
        f"vectors: entity {id_} has that of another text"
        for id_ in texts
        if not np.allclose(found[id_][0], wanted[id_], atol=1e-5)
    ]


if __name__ == "__main__":
    fault = Fault.parse(sys.argv[3]) if len(sys.argv) > 3 else None
    asyncio.run(run(Path(sys.argv[1]), int(sys.argv[2]), install_fault(fault)))
