"""What is read of your own files and exports: what is refused and why, what is named, how long it takes.

`python -m benchmarks.reading --folder DIR` reads every file below it; `--export PLATFORM` reads the folder, or a ZIP
archive, as an export. Where `pymupdf` is installed, the words of PDF files are compared with those that it finds.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import resource
import time
import unicodedata
from collections import Counter
from contextlib import aclosing
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from bot.platform.export_readers import ExportOptions, load_export_reader
from engine import FileParser, ParserLimits
from engine.clock import Clock
from engine.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Sequence

WORD = re.compile(r"[^\W_]{2,}")
ENOUGH = 0.99  # of the words of a file: below it, the file is printed
HANG_SECONDS = 300
REFERENCE = "pymupdf"


@dataclass(slots=True)
class FileOutcome:
    """What happened to a file: `outcome` is "read", "hung", or the class of its error."""

    outcome: str = "read"
    reason: str = ""
    seconds: float = 0.0
    omissions: int = 0
    texts: list[str] = field(default_factory=list)


async def read_file(parser: FileParser, path: Path) -> FileOutcome:
    """Read one file to its end."""
    data = await asyncio.to_thread(path.read_bytes)
    found, began = FileOutcome(), time.monotonic()
    try:
        async with asyncio.timeout(HANG_SECONDS), aclosing(parser.stream(path.name, data)) as documents:
            async for document in documents:
                found.texts += [passage.text for passage in document.passages]
                found.omissions += len(document.omissions)
    except TimeoutError:
        found.outcome = "hung"
    except InvalidDocument as error:
        found.outcome, found.reason = type(error).__name__, str(error)
    found.seconds = time.monotonic() - began
    return found


def split_words(text: str) -> Counter[str]:
    """The words of a text, however their letters are encoded."""
    return Counter(WORD.findall(unicodedata.normalize("NFKC", text.replace("\xad", "")).casefold()))


def missing_words(reference: str, text: str) -> tuple[int, int]:
    """How many of the words of a reference a text lacks, also when spaces are ignored, and how many there are."""
    wanted, found = split_words(reference), split_words(text)
    run = "".join(WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
    return sum(count for word, count in wanted.items() if word not in found and word not in run), wanted.total()


def read_reference(path: Path) -> str:
    """The text of a PDF file as another library finds it; empty if it finds none, or is not installed."""
    if path.suffix.lower() != ".pdf" or find_spec(REFERENCE) is None:
        return ""
    library = import_module(REFERENCE)
    try:
        with library.open(path) as document:
            return "" if document.needs_pass else "\n".join(page.get_text() for page in document)
    except (RuntimeError, ValueError):
        return ""


def compare(path: Path, found: FileOutcome) -> str:
    """How the words that were read compare with the reference: "complete", "incomplete", or "" without one."""
    lacking, total = missing_words(read_reference(path), "\n".join(found.texts))
    if not total:
        return ""
    if lacking <= (1 - ENOUGH) * total:
        return "complete"
    print(f"  {found.outcome:16} {path.name}: {lacking} of {total} words are missing {found.reason}")
    return "incomplete"


async def read_all(paths: Sequence[Path]) -> None:
    """Print what happened to the files, by extension."""
    table: dict[str, Counter[str]] = {}
    reasons, slowest = Counter[str](), (0.0, "")
    async with FileParser(ParserLimits(workers=1)) as parser:
        for path in paths:
            found = await read_file(parser, path)
            row = table.setdefault(path.suffix.lower(), Counter())
            row.update([found.outcome, *filter(None, [compare(path, found)])])
            row["parts named"] += found.omissions
            slowest = max(slowest, (found.seconds, path.name))
            if found.reason:
                reasons[found.reason.replace(path.name, "…")] += 1
    for extension, counts in sorted(table.items()):
        print(f"{extension:10} {', '.join(f'{name} {count}' for name, count in counts.most_common() if count)}")
    for reason, count in reasons.most_common():
        print(f"{count:6} × {reason}")
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"slowest: {slowest[1]}, {slowest[0]:.1f} s; peak of a worker: {memory} MiB")


def read_export(platform: str, path: Path, options: ExportOptions) -> None:
    """Print the channels, messages and files of an export, and what is left out."""
    began = time.monotonic()
    source = load_export_reader(platform)(path, options, clock=Clock())
    counts = Counter[str]()
    for channel in source.list_channels():
        counts["channels"] += 1
        for page in source.read_pages(channel.location):
            counts["messages"] += len(page)
            counts["files"] += sum(len(message.uploads) for message in page)
            counts["without text and files"] += sum(
                not (message.text or message.forwarded or message.previews or message.uploads) for message in page
            )
    source.close()
    print(", ".join(f"{name} {count}" for name, count in counts.items()), f"in {time.monotonic() - began:.1f} s")
    for kind, count in sorted((+source.omissions).items()):
        print(f"{count:6} × {kind}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--folder", type=Path, required=True)
    options.add_argument("--export", metavar="PLATFORM", default="")
    options.add_argument("--workspace", default="")
    chosen = options.parse_args()
    if chosen.export:
        read_export(chosen.export, chosen.folder, ExportOptions(workspace=chosen.workspace, direct_messages=True))
    else:
        asyncio.run(read_all(sorted(path for path in chosen.folder.rglob("*") if path.is_file())))


if __name__ == "__main__":
    main()
