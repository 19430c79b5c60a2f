"""Every file of your copy of the real documents: read with a locator, refused with a reason, or wrong; and mutations.

`make bench-docs DATA=/path/to/data`. The folder `docs` in it has MANIFEST.jsonl ({"file", "ext"} per line) and `files`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import time
from collections import Counter
from contextlib import aclosing
from itertools import cycle, islice
from pathlib import Path
from random import Random

from engine import FileParser, ParserLimits
from engine.errors import InvalidDocument

# The message of the catch-all of the worker, and of a worker that died.
CATCH_ALL = ("could not be read (", "The parser crashed")
MAX_MUTATED_SIZE = 200_000


def mutate(data: bytes, random: Random) -> bytes:
    """The bytes cut off, or with some of them changed, removed or repeated."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 4, 30))):
        at = random.randrange(len(changed) or 1)
        match random.randrange(4):
            case 0:
                changed[at : at + 1] = bytes([random.randrange(256)])
            case 1:
                del changed[at : at + random.randrange(1, 200)]
            case 2:
                changed[at:at] = changed[at : at + random.randrange(1, 200)]
            case _:
                changed[at : at + 4] = random.randbytes(4)
    return bytes(changed[: random.randrange(len(changed) or 1)] if random.random() < 0.1 else changed)


async def classify(parser: FileParser, name: str, data: bytes) -> tuple[str, str]:
    """What happened to a file ("read", the class of the refusal, "wrong"), and a sentence."""
    labels = []
    try:
        async with aclosing(parser.stream(name, data)) as documents:
            async for document in documents:
                labels += [passage.label for passage in document.passages]
    except InvalidDocument as error:
        is_wrong = any(words in str(error) for words in CATCH_ALL)
        return ("wrong" if is_wrong else type(error).__name__), str(error)
    except Exception as error:  # noqa: BLE001 - an untyped error is what is looked for
        return "wrong", repr(error)
    return ("read", labels[0]) if all(labels) else ("wrong", "a passage without a locator")


async def read_all(parser: FileParser, files: list[tuple[str, bytes]]) -> None:
    """Print a table by extension, and every file that is not read."""
    table: dict[str, Counter[str]] = {}
    for name, data in files:
        outcome, words = await classify(parser, name, data)
        table.setdefault(Path(name).suffix, Counter())[outcome] += 1
        if outcome != "read":
            print(f"  {outcome:18} {name}: {words}")
    for extension, counts in sorted(table.items()):
        print(f"{extension:8} {', '.join(f'{outcome} {count}' for outcome, count in counts.most_common())}")
    print("all     ", dict(sum(table.values(), Counter())))


async def mutate_all(parser: FileParser, files: list[tuple[str, bytes]], count: int, seed: int) -> int:
    """Print the outcomes of mutated files; returns how many are wrong."""
    random, outcomes, began = Random(seed), Counter[str](), time.monotonic()
    small = [file for file in files if 0 < len(file[1]) <= MAX_MUTATED_SIZE]
    for number, (name, data) in enumerate(islice(cycle(small), count)):
        outcome, words = await classify(parser, name, mutate(data, random))
        outcomes[outcome] += 1
        if outcome == "wrong":
            print(f"  wrong: mutation {number} of {name}: {words}")
    print(f"{count} mutations (seed {seed}) in {time.monotonic() - began:.0f} s: {dict(outcomes.most_common())}")
    return outcomes["wrong"]


async def run(folder: Path, count: int, seed: int, program: str) -> int:
    rows = [json.loads(line) for line in (folder / "MANIFEST.jsonl").read_text().splitlines()]
    files = [(row["file"], (folder / "files" / row["file"]).read_bytes()) for row in rows]
    async with FileParser(ParserLimits(workers=1, ocr_program=program)) as parser:
        await read_all(parser, files)
    async with FileParser(ParserLimits(workers=1)) as parser:  # recognition would take most of the time
        return await mutate_all(parser, files, count, seed)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=None)
    options.add_argument("--mutations", type=int, default=2000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--ocr", choices=("auto", "off"), default="auto")
    chosen = options.parse_args()
    program = (shutil.which("tesseract") or "") if chosen.ocr == "auto" else ""
    if chosen.data is None or not (chosen.data / "docs" / "MANIFEST.jsonl").exists():
        print("Skipped: there are no documents (DATA=/path/to/data, with the folder docs in it).")
        return
    sys.exit(1 if asyncio.run(run(chosen.data / "docs", chosen.mutations, chosen.seed, program)) else 0)


if __name__ == "__main__":
    main()
