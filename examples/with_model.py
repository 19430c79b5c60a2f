"""Let a language model extract the knowledge graph and write the answer.

    export LLM_MODEL=openai/gpt-4o-mini LLM_API_BASE=https://… LLM_API_KEY=…
    python examples/with_model.py

LLM_MODEL is a name of litellm. Leave LLM_API_BASE empty for the provider's own address.
"""

from __future__ import annotations

import asyncio
import os
import tempfile

from engine import Engine, Question, Scope, open_language_model

NOTES = "Mara Venn keeps the key of the village hall. Tobin Ashe repairs its roof."


async def main() -> None:
    """Index a note and stream an answer with its sources and its cost in tokens."""
    model, api_base = os.environ.get("LLM_MODEL", "openai/gpt-4o-mini"), os.environ.get("LLM_API_BASE", "")
    with tempfile.TemporaryDirectory() as folder:
        async with (
            open_language_model(model, api_base=api_base, api_key=os.environ.get("LLM_API_KEY", "")) as language,
            Engine.open(folder, language=language) as engine,
        ):
            await engine.documents.add_text("Notes", NOTES, space="village")
            await engine.wait_until_indexed()
            answer = await engine.ask(Question("Who repairs the roof?", Scope.of("village"), top_k=20, chunk_top_k=10))
            async for piece in answer:
                print(piece, end="", flush=True)
            print()
            for source in answer.sources:
                print(f"[{source.number}] {source.title}, {source.label}")
            print("Tokens:", sum(usage.input_tokens + usage.output_tokens for usage in answer.usage))


if __name__ == "__main__":
    asyncio.run(main())
