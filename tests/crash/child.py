"""The process that is killed: goes on with the script of a seed where the acknowledgements end, then tells its state.

`python -m tests.crash.child HOME SEED [FAULT]`: HOME/data is the folder, HOME/acknowledged has a byte for each
operation that has returned, HOME/state is written at the end: JSON of what differs, of the export, of the steps taken.
HOME/database, if there is such a file, has the address of the database that holds the data.
With `helper` as FAULT it applies no operation, and shares the work on the database until its input ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

import numpy as np

from engine import Engine, Scope
from engine.projection.embedding_text import entity_text, truncate_to_tokens
from engine.storage.ledger.queries import graphml
from engine.storage.ledger.records.projection import Profile
from engine.usage import UsageMeter
from tests.crash.faults import Fault, install_fault
from tests.crash.models import SlowEmbedder, SlowReader
from tests.crash.scenario import SPACES, apply_operation, build_options, build_script

EVERYTHING = Scope(frozenset(SPACES), frozenset())


HELPER = "helper"


def open_home(home: Path, seed: int, folder: str = "data") -> AbstractAsyncContextManager[Engine]:
    """The engine of a home, on its files or on its database."""
    address = home / "database"
    options = replace(
        build_options(seed),
        database=address.read_text(encoding="utf-8") if address.exists() else "",
    )
    return Engine.open(home / folder, language=SlowReader(), embedder=SlowEmbedder(), options=options)


async def help_out(home: Path, seed: int) -> None:
    """Share the work on the database of a home until the input ends."""
    async with open_home(home, seed, f"{HELPER}{os.getpid()}"):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


async def run(home: Path, seed: int, steps: Counter[str]) -> None:
    acknowledged = os.open(home / "acknowledged", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    done = os.fstat(acknowledged).st_size
    async with open_home(home, seed) as engine:
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
    for document in await engine.documents.list(EVERYTHING):
        await engine.documents.amend(document.key, is_open=False)
    await engine.wait_until_indexed()
    report = await engine.maintenance.verify()
    export = [line async for line in engine.maintenance.export("jsonl", EVERYTHING)]
    await engine.maintenance.compact()
    differences = [str(difference) for difference in report.differences] + await find_wrong_vectors(engine)
    return {"differences": differences, "export": export}


async def find_wrong_vectors(engine: Engine) -> list[str]:
    """Entities whose vector is not the one of their text."""
    runtime = engine._runtime
    scope_ids = await runtime.ledger.search.resolve_scope(EVERYTHING)
    async with runtime.ledger.stream_connection() as db:
        rows = [row async for row in graphml.stream_entities(db, scope_ids)]
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
    place, number, *last = sys.argv[1:]
    if last == [HELPER]:
        asyncio.run(help_out(Path(place), int(number)))
    else:
        asyncio.run(run(Path(place), int(number), install_fault(Fault.parse(last[0]) if last else None)))
