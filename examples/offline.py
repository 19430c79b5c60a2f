"""Answer questions about your own texts without a model provider, an API key or a network.

    python examples/offline.py [FILE …]

Answers are quotations. The vectors come from the built-in embedder.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile

from engine import Engine, Question, Scope

NOTES = """The village hall opens at nine in the morning.

Mara Venn keeps the key of the hall, and Tobin Ashe repairs its roof.
"""


async def main(paths: list[str]) -> None:
    """Index the notes and the files, then ask."""
    with tempfile.TemporaryDirectory() as folder:
        async with Engine.open(folder) as engine:
            await engine.documents.add_text("Notes", NOTES, space="village")
            for path in paths:
                await engine.documents.add_file(path, space="village")
            await engine.wait_until_indexed()

            question = Question("Who keeps the key of the hall?", Scope.of("village"))
            context = await engine.retrieve(question)
            print("Entities:", ", ".join(entity.name for entity in context.entities))
            answer = await engine.ask(question)
            async for piece in answer:
                print(piece, end="", flush=True)
            print()
            for source in answer.sources:
                print(f"[{source.number}] {source.title}, {source.label}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
