"""An engine in a process of its own, which works until its input ends or until a fault kills it.

    python -m tests.support.engine_process HOME ADDRESS [FAULT]

It writes a line when it is ready, and at the end the number of its model calls for extraction.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from engine import Engine, EngineOptions
from tests.crash.faults import Fault, install_fault
from tests.support.fake_embedder import HashEmbedder
from tests.support.toy_language import ToyLanguage

# Small batches, so that several processes find work.
OPTIONS = EngineOptions(embed_batch_size=4, projection_batch_size=8, extraction_concurrency=2)


async def run(home: Path, options: EngineOptions) -> None:
    language = ToyLanguage()
    async with Engine.open(home, language=language, embedder=HashEmbedder(), options=options):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
    sys.stdout.write(f"{language.calls['extract']}\n")


if __name__ == "__main__":
    from dataclasses import replace

    install_fault(Fault.parse(sys.argv[3]) if len(sys.argv) > 3 else None)
    asyncio.run(run(Path(sys.argv[1]), replace(OPTIONS, database=sys.argv[2])))
