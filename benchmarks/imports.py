"""Import a large Slack export, and the same export again: `python -m benchmarks.imports [--messages N] [--seed N]`.

Prints messages a second and the memory of the process for each tenth, with threads, edits, mentions and pauses. Texts
are extracted by rules and embedded by a hash, in the background; `--indexing 0` leaves them unindexed, so that the
import alone is measured.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from adapters.slack.export import open_export
from benchmarks.hashing import HashingEmbedder
from benchmarks.plumbing import parse_arguments, resident_mib, temporary_folder
from benchmarks.synthetic import THINGS, VERBS, build_names
from bot import bootstrap
from bot.bootstrap import LazyParts
from bot.platform.export_readers import ExportOptions
from bot.platform.history_source import ImportStats
from bot.settings import Settings
from engine.clock import SYSTEM_CLOCK
from tests.support.exports import Row, slack_message, slack_user

USERS, CHANNELS, STEPS = 200, 20, 10
THREAD_SHARE, EDIT_SHARE, PAUSE_SHARE = 0.35, 0.03, 0.15
PAUSE_MINUTES, MAX_THREAD_AGE = 90.0, 12


def write_export(path: Path, messages: int, seed: int) -> None:
    """Write a workspace export; half of the messages are in the first channels."""
    chance = random.Random(seed)
    names = build_names()[:USERS]
    users = [slack_user(f"U{number}", name) for number, name in enumerate(names)]
    shares = [1 / (rank + 1) for rank in range(CHANNELS)]
    lists: dict[str, list[Row]] = {"channels": [], "groups": []}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("users.json", json.dumps(users))
        for number, share in enumerate(shares):
            kind, name = ("groups" if number % 5 == 4 else "channels"), f"channel-{number}"
            lists[kind].append({"id": f"C{number}", "name": name, "members": [user["id"] for user in users]})
            for day, rows in _days(chance, round(messages * share / sum(shares)), names):
                archive.writestr(f"{name}/{day}.json", json.dumps(rows))
        for kind, rows in lists.items():
            archive.writestr(f"{kind}.json", json.dumps(rows))


def _days(chance: random.Random, count: int, names: Sequence[str]) -> Iterator[tuple[str, list[Row]]]:
    """The messages of a channel by day."""
    minutes, roots, rows = 0.0, list[str](), list[Row]()
    for _ in range(count):
        minutes += PAUSE_MINUTES * chance.random() if chance.random() < PAUSE_SHARE else chance.random()
        row = slack_message(f"U{chance.randrange(USERS)}", minutes, _text(chance, names))
        if roots and chance.random() < THREAD_SHARE:
            row["thread_ts"] = chance.choice(roots[-MAX_THREAD_AGE:])
        else:
            roots.append(row["ts"])
        if chance.random() < EDIT_SHARE:
            row["edited"] = {"user": row["user"], "ts": row["ts"]}
        if rows and _day(rows[0]) != _day(row):
            yield _day(rows[0]), rows
            rows = []
        rows.append(row)
    if rows:
        yield _day(rows[0]), rows


def _day(row: Row) -> str:
    return f"{datetime.fromtimestamp(float(row['ts']), UTC):%Y-%m-%d}"


def _text(chance: random.Random, names: Sequence[str]) -> str:
    clauses = (
        f"{chance.choice(names)} {chance.choice(VERBS)} {chance.choice(THINGS)} for <@U{chance.randrange(USERS)}>"
        for _ in range(chance.randint(1, 3))
    )
    return ", and ".join(clauses) + f" in case {chance.randrange(10**6):x}."


async def run_import(home: Path, export: Path, total: int, *, indexing: bool) -> ImportStats:
    """Import an export as `threadlore import` does without a running bot."""
    settings = Settings(data_dir=home)
    async with (
        bootstrap.open_models(settings, SYSTEM_CLOCK) as models,
        bootstrap.open_engine(settings, replace(models, embedder=HashingEmbedder()), SYSTEM_CLOCK) as context,
        AsyncExitStack() as stack,
    ):
        parts = LazyParts(context, settings)
        stack.push_async_callback(parts.close)
        if not indexing:
            await context.engine._worker.stop()
        source = open_export(export, ExportOptions(), clock=SYSTEM_CLOCK)
        async with (await parts.open()).ingest.open_import(source) as running:
            began = since = time.perf_counter()
            cpu, last = time.process_time(), 0
            async for _ in running.run():
                seen = running.stats.seen
                if seen - last >= total / STEPS or seen == total > last:
                    now = time.perf_counter()
                    used = time.process_time() - cpu
                    print(
                        f"| {seen:9,} | {(seen - last) / (now - since):7,.0f} | {(seen - last) / used:7,.0f} "
                        f"| {resident_mib('self'):6,.0f} |",
                        flush=True,
                    )
                    since, last, cpu = now, seen, time.process_time()
            print(f"{running.stats.seen:,} messages, {running.stats.new:,} new: {time.perf_counter() - began:.1f} s")
        source.close()
        return running.stats


def main() -> None:
    """Print both runs."""
    chosen = parse_arguments(__doc__, messages=100_000, seed=1, indexing=1)
    with temporary_folder() as folder:
        export = Path(folder) / "export.zip"
        write_export(export, chosen.messages, chosen.seed)
        for name in ("first", "second"):
            print(f"\n{name} run\n| messages | a second | a processor second | MiB |\n|--:|--:|--:|--:|", flush=True)
            asyncio.run(run_import(Path(folder) / "home", export, chosen.messages, indexing=bool(chosen.indexing)))


if __name__ == "__main__":
    main()
