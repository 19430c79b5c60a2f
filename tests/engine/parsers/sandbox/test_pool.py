from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine import FileParser, ParserLimits
from engine.errors import CorruptFile, DocumentTooLarge, EmptyDocument, EncryptedFile, UnsupportedFormat
from tests.engine.parsers import samples

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def reader() -> AsyncIterator[FileParser]:
    async with FileParser(ParserLimits(workers=1)) as reader:
        yield reader


async def test_each_family_is_read_through_the_worker(reader: FileParser) -> None:
    files = {
        "a.txt": b"The library opens at nine.",
        "a.md": b"# Hours\n\nThe library opens at nine.",
        "a.html": b"<h1>Hours</h1><p>The library opens at nine.</p>",
        "a.pdf": samples.pdf([["The library opens at nine."]]),
        "a.docx": samples.docx(samples.paragraph("The library opens at nine.")),
        "a.jsonl": b'{"id":"1","user":"Ada","text":"The library opens at nine.","time":1700000000}',
        "a.rtf": rb"{\rtf1\ansi The library opens at nine.\par}",
    }
    for name, data in files.items():
        read = await reader.parse(name, data)
        assert "The library opens at nine." in read.passages[-1].text, name


async def test_every_refusal_crosses_the_process_border_as_its_own_class(reader: FileParser) -> None:
    refused = {
        "empty.txt": (b" \n", EmptyDocument),
        "scan.pdf": (samples.pdf([[]]), EmptyDocument),
        "locked.pdf": (samples.pdf([["secret"]], locked=True), EncryptedFile),
        "junk.pdf": (b"%PDF-1.4 and then nothing", CorruptFile),
        "login.pdf": (b"<!DOCTYPE html><html><body>Sign in</body></html>", CorruptFile),
        "junk.txt": (bytes(range(256)) * 20, CorruptFile),
        "cut.docx": (samples.docx(samples.paragraph("text"))[:300], CorruptFile),
        "bomb.docx": (samples.bomb(50_000_000), DocumentTooLarge),
        "photo.png": (b"\x89PNG\r\n\x1a\n rest", UnsupportedFormat),
    }
    for name, (data, kind) in refused.items():
        with pytest.raises(kind) as caught:
            await reader.parse(name, data)
        assert type(caught.value) is kind, name
        assert caught.value.hint


async def test_a_file_over_the_size_limit_is_refused_before_any_worker_starts() -> None:
    async with FileParser(ParserLimits(max_file_size=10)) as reader:
        with pytest.raises(DocumentTooLarge, match="MiB"):
            await reader.parse("a.txt", b"eleven bytes")
        assert reader._processes[0].pid is None


async def test_more_text_than_allowed_is_too_large() -> None:
    async with FileParser(ParserLimits(max_text_length=100)) as reader:
        with pytest.raises(DocumentTooLarge, match="100 characters"):
            await reader.parse("a.txt", b"word " * 50)


async def test_a_worker_killed_in_mid_read_is_a_broken_file_and_the_next_file_is_read(reader: FileParser) -> None:
    await reader.parse("a.txt", b"one")
    first = reader._processes[0].pid
    assert first
    os.kill(first, signal.SIGSTOP)
    reading = asyncio.create_task(reader.parse("b.txt", b"two"))
    await asyncio.sleep(0)
    os.kill(first, signal.SIGKILL)
    with pytest.raises(CorruptFile, match="crash"):
        await reading
    read = await reader.parse("c.txt", b"three")
    assert read.passages[0].text == "three"
    assert reader._processes[0].pid != first


async def test_a_worker_that_died_between_two_files_is_replaced(reader: FileParser) -> None:
    await reader.parse("a.txt", b"one")
    process = reader._processes[0]
    assert process._process
    process._process.kill()
    await process._process.wait()
    assert (await reader.parse("b.txt", b"two")).passages[0].text == "two"


async def test_a_file_that_takes_too_long_is_too_large_and_its_worker_is_gone() -> None:
    async with FileParser(ParserLimits(timeout_seconds=0.001, workers=1)) as reader:
        with pytest.raises(DocumentTooLarge, match="longer than"):
            await reader.parse("a.txt", b"one")
        assert reader._processes[0].pid is None


async def test_a_file_that_takes_too_much_memory_is_too_large() -> None:
    async with FileParser(ParserLimits(max_memory=192 * 2**20, workers=1)) as reader:
        with pytest.raises(DocumentTooLarge, match="memory"):
            await reader.parse("a.txt", b"a b c d e\n" * 3_000_000)


async def test_a_cancelled_read_does_not_answer_the_next_question(reader: FileParser) -> None:
    await reader.parse("a.txt", b"one")
    pid = reader._processes[0].pid
    assert pid
    os.kill(pid, signal.SIGSTOP)
    reading = asyncio.create_task(reader.parse("b.txt", b"two"))
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert (await reader.parse("c.txt", b"three")).passages[0].text == "three"


async def test_several_files_at_once_wait_for_their_turn(reader: FileParser) -> None:
    reads = await asyncio.gather(*(reader.parse(f"{n}.txt", str(n).encode()) for n in range(20)))
    assert [read.passages[0].text for read in reads] == [str(n) for n in range(20)]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux shows another process's environment")
async def test_the_worker_sees_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREADLORE_LLM_API_KEY", "a-secret-key")
    async with FileParser(ParserLimits(workers=1)) as reader:
        await reader.parse("a.txt", b"one")
        environment = Path(f"/proc/{reader._processes[0].pid}/environ")
        assert b"a-secret-key" not in await asyncio.to_thread(environment.read_bytes)


def test_importing_the_reader_loads_no_parser() -> None:
    program = (
        "import sys, engine.parsers\n"
        "assert not {'kreuzberg', 'pypdfium2', 'markdown_it', 'charset_normalizer'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
