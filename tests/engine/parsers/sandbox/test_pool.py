from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from engine import FileParser, ParserLimits
from engine.errors import CorruptFile, DocumentTooLarge
from engine.parsers.sandbox.worker import parse_documents
from tests.engine.parsers.test_golden import INPUTS

LIMITS = ParserLimits(workers=1)
pytestmark = pytest.mark.asyncio(loop_scope="module")
RTF = rb"{\rtf1\ansi The library opens at nine.\par}"


async def worker_pid(parser: FileParser) -> int:
    """The process of the only worker, which has started."""
    await parser.parse("a.txt", b"one")
    assert parser._processes[0].pid
    return parser._processes[0].pid


async def assert_works(parser: FileParser) -> None:
    assert (await parser.parse("c.txt", b"three")).passages[0].text == "three"


@pytest.mark.parametrize("name", [*INPUTS, "a.rtf"])
async def test_a_file_is_parsed_in_the_worker_as_in_this_process(parser: FileParser, name: str) -> None:
    data = INPUTS.get(name, RTF)
    assert [each async for each in parser.stream(name, data)] == list(parse_documents(name, data, LIMITS))


LETTER = b"Subject: Ferry\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nHello.\n"
ATTACHED = b'--x\nContent-Disposition: attachment; filename="%b"\n\n%b\n'


async def test_attachments_are_documents_of_their_own(parser: FileParser) -> None:
    inner = (
        LETTER.replace(b"x", b"y") + ATTACHED.replace(b"x", b"y", 1) % (b"list.csv", b"Ship,Seats\nGull,80") + b"--y--"
    )
    data = LETTER + ATTACHED % (b"a.xyz", b"\x00\x01\x02\x03") + ATTACHED % (b"b.eml", inner) + b"--x--"
    documents = [each async for each in parser.stream("a.eml", data)]
    assert [(document.key, document.title) for document in documents] == [
        ("", "Ferry"),
        ("attachment-2", "Ferry › b.eml"),
        ("attachment-2.attachment-1", "Ferry › b.eml › list.csv"),
        ("", "Ferry"),  # once more: an attachment was not read
    ]
    assert [omission.part for omission in documents[3].omissions] == ["attachment a.xyz"]
    assert documents[2].passages[0].text == "Ship | Seats\n--- | ---\nGull | 80"
    assert (await parser.parse("a.eml", data)).passages == documents[0].passages


@pytest.mark.long
async def test_a_long_file_becomes_parts_that_are_parsed_as_they_are_taken(parser: FileParser) -> None:
    data = b"\n".join(b"%d: the ferry left the pier at noon." % number for number in range(60_000))
    async with aclosing(parser.stream("ferry.log", data)) as documents:
        first = await anext(documents)
        second = await anext(documents)
        assert [(each.key, each.title) for each in (first, second)] == [
            ("", "ferry.log"),
            ("part-2", "ferry.log (part 2)"),
        ]
        last, begin = first.passages[-1].label, second.passages[0].label
        assert int(last.partition("–")[2]) + 1 == int(begin.partition("–")[0].removeprefix("lines "))
    await assert_works(parser)  # what was not taken does not answer the next question
    whole = await parser.parse("ferry.log", data)
    assert sum(passage.text.count("ferry") for passage in whole.passages) == 60_000


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "row", "last"),
    [("a.csv", b"%d,the ferry left the pier\n", b"x" * 1_100_000), ("a.log", b"%d: the ferry left\n", b"")],
)
async def test_the_first_part_of_a_long_file_is_there_before_the_rest_is_parsed(
    name: str, row: bytes, last: bytes
) -> None:
    parts = parse_documents(name, b"".join(row % number for number in range(60_000)) + last, LIMITS)
    assert next(parts).key == ""
    *_, final = parts
    assert final.passages[-1].label.endswith("60001" if last else "60000")


async def test_a_file_that_is_too_large_starts_no_worker() -> None:
    async with FileParser(ParserLimits(max_file_size=10)) as parser:
        with pytest.raises(DocumentTooLarge, match="MiB"):
            await parser.parse("a.txt", b"eleven bytes")
        assert parser._processes[0].pid is None


@pytest.mark.long
async def test_a_worker_killed_in_mid_read_is_a_corrupt_file_and_is_replaced(parser: FileParser) -> None:
    pid = await worker_pid(parser)
    os.kill(pid, signal.SIGSTOP)
    parsing = asyncio.create_task(parser.parse("b.txt", b"two"))
    await asyncio.sleep(0)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(CorruptFile, match="crash"):
        await parsing
    await assert_works(parser)
    assert parser._processes[0].pid != pid


@pytest.mark.long
async def test_a_worker_that_died_between_two_files_is_replaced(parser: FileParser) -> None:
    await worker_pid(parser)
    process = parser._processes[0]._process
    assert process
    process.kill()
    await process.wait()
    await assert_works(parser)


async def test_a_cancelled_read_does_not_answer_the_next_question(parser: FileParser) -> None:
    os.kill(await worker_pid(parser), signal.SIGSTOP)
    parsing = asyncio.create_task(parser.parse("b.txt", b"two"))
    await asyncio.sleep(0)
    parsing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await parsing
    await assert_works(parser)


async def test_several_files_at_once_wait_for_their_turn(parser: FileParser) -> None:
    parsed = await asyncio.gather(*(parser.parse(f"{n}.txt", str(n).encode()) for n in range(20)))
    assert [result.passages[0].text for result in parsed] == [str(n) for n in range(20)]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux shows another process's environment")
async def test_the_worker_sees_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREADLORE_LLM_API_KEY", "a-secret-key")
    async with FileParser(LIMITS) as parser:
        environment = Path(f"/proc/{await worker_pid(parser)}/environ")
        assert b"a-secret-key" not in await asyncio.to_thread(environment.read_bytes)


@pytest.mark.long
async def test_importing_the_parsers_loads_no_library() -> None:
    libraries = "{'kreuzberg', 'pypdfium2', 'markdown_it', 'chardet'}"
    program = f"import sys, engine.parsers\nassert not {libraries} & set(sys.modules)"
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", program], check=True)
