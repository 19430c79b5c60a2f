"""Draw the picture of the README: the neighborhood of a name in the demo town, as /graph draws it.

python scripts/make_graph_image.py [NAME]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from bot.cli.chat import TOWN_DIR
from bot.graph_image.render import load_graph_model, render_graph
from engine import Engine, Scope

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "graph.png"
SPACE, DEFAULT_NAME = "demo", "Patient Agnes"


async def main(name: str) -> None:
    """Index the town without a model and save the picture."""
    with tempfile.TemporaryDirectory() as folder:
        ingest = (sys.executable, "-m", "bot", "--data-dir", folder, "ingest", str(TOWN_DIR), "--space", SPACE)
        process = await asyncio.create_subprocess_exec(*ingest)
        await process.wait()
        async with Engine.open(folder) as engine:
            _, model = await load_graph_model(engine, name, Scope.of(SPACE))
            image = await render_graph(model)
    IMAGE.parent.mkdir(exist_ok=True)
    IMAGE.write_bytes(image.picture.data)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else DEFAULT_NAME))
