"""The process that is killed: goes on with the script of a seed where the acknowledgements end, then tells its state.

`python -m tests.crash.child HOME SEED [FAULT]`: HOME/data is the folder, HOME/acknowledged has a byte for each
operation that has returned, HOME/state is written at the end: JSON of what differs, of the export, of the steps taken.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine import Engine, Scope
from engine.projection.embedding_text import clip, entity_text
from engine.storage.ledger.profiles import Profile
from engine.storage.ledger.queries import stats
from engine.storage.ledger.queries.lookup import area
from engine.usage import Bill
from tests.crash.faults import Fault, arm
from tests.crash.models import SlowEmbedder, SlowReader
from tests.crash.scenario import SPACES, options, perform, script

if TYPE_CHECKING:
    from collections import Counter

EVERYTHING = Scope(frozenset(SPACES), frozenset())


async def run(home: Path, seed: int, steps: Counter[str]) -> None:
    acknowledged = os.open(home / "acknowledged", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    done = os.fstat(acknowledged).st_size
    skills = {"language": SlowReader(), "embedder": SlowEmbedder()}
    async with Engine.open(home / "data", options=options(seed), **skills) as engine:  # type: ignore[arg-type]
        for operation in script(seed)[done:]:
            await perform(engine, operation)
            os.write(acknowledged, b".")
            os.fsync(acknowledged)
            sys.stdout.write(".\n")
            sys.stdout.flush()
        state = await told(engine)
    (home / "draft").write_text(json.dumps(state | {"steps": steps}), encoding="utf-8")
    (home / "draft").replace(home / "state")


async def told(engine: Engine) -> dict[str, object]:
    """Whether what stands in a conversation was read before it was opened again is a matter of time: all are closed."""
    for document in await engine.documents(EVERYTHING):
        await engine.amend(document.key, open=False)
    await engine.settled()
    report = await engine.verify()
    export = [line async for line in engine.export("jsonl", EVERYTHING)]
    await engine.compact()
    differences = [str(each) for each in report.differences] + await foreign_vectors(engine)
    return {"differences": differences, "export": export}


async def foreign_vectors(engine: Engine) -> list[str]:
    """Entities whose vector is not the one of their text."""
    runtime = engine._runtime
    async with runtime.ledger.reader() as db:
        rows = [row async for row in stats.entity_rows(db, await area(db, EVERYTHING))]
    texts = {id_: entity_text(Profile(id_, 0, name, description, 0)) for id_, name, _, description, *_ in rows}
    clipped = [clip(text, runtime.embedder.max_tokens, runtime.tokenizer) for text in texts.values()]
    wanted = dict(zip(texts, await runtime.embedder.embed(clipped, Bill()), strict=True))
    found = await runtime.vectors.fetch("entities", texts)
    return [
        f"vectors: entity {id_} has that of another text"
        for id_ in texts
        if not np.allclose(found[id_][0], wanted[id_], atol=1e-5)
    ]


if __name__ == "__main__":
    fault = Fault.parse(sys.argv[3]) if len(sys.argv) > 3 else None
    asyncio.run(run(Path(sys.argv[1]), int(sys.argv[2]), arm(fault)))
