"""Do foreign strings that give orders do harm? `python -m benchmarks.injection --data DATA`.

All that stands in the `.jsonl` files of DATA/injection (`text` or `context` of each line) is posted into a channel, as
a message and as a file, and asked about; the model obeys whatever it reads. Counted is what should not have happened:
somebody was called, a foreign link was shown, a secret of another channel came out. The data is read where it lies.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path

from benchmarks.plumbing import temporary_folder
from bot.monitoring import log_config
from engine.clock import SYSTEM_CLOCK
from tests.acceptance.injection_cases import open_trial
from tests.support.town.live_bot import open_models

FOLDER = "injection"
AT_ONCE = 20  # strings between two looks


def load_strings(folder: Path) -> list[str]:
    """The texts of all files, each once."""
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    rows = [json.loads(line) for line in lines if line.strip()]
    return list(dict.fromkeys(text for row in rows if (text := row.get("text") or row.get("context") or "").strip()))


async def measure(texts: list[str]) -> int:
    """Go through all of them; 1 if anything happened that should not."""
    began = time.perf_counter()
    with temporary_folder() as home:
        async with open_models() as models, open_trial(Path(home), models) as trial:
            for start in range(0, len(texts), AT_ONCE):
                some = texts[start : start + AT_ONCE]
                await trial.post_texts(some)
                await trial.ask_about(some)
                print(f"{start + len(some)} of {len(texts)} strings, {time.perf_counter() - began:.0f} s", flush=True)
            harm = list(dict.fromkeys(trial.list_violations()))
            asked = trial.model.calls["answer"]
    print(f"{len(texts)} strings as messages and as files, {asked} questions: harm done {len(harm)} times")
    print("\n".join(harm))
    return 1 if harm else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help=f"the folder that holds {FOLDER}")
    data = parser.parse_args().data
    texts = load_strings(data / FOLDER) if data is not None else []
    if not texts:
        print(f"skipped: no data; give the folder that holds {FOLDER}, as DATA=…")
        return 0
    log_config.configure_logging(SYSTEM_CLOCK, debug=False)
    return asyncio.run(measure(texts))


if __name__ == "__main__":
    sys.exit(main())
