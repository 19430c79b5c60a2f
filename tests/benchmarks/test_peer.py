"""The comparison with LightRAG: replay, slices, tables, picture, vectors and runner processes, without the peer."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.hashing import HashingEmbedder
from benchmarks.peer import __main__ as program
from benchmarks.peer.corpus import ReplayQuestion, build_question, build_synthetic, extend, find_names, format_reply
from benchmarks.peer.install import PeerNotInstallable, build_environment, install_peer
from benchmarks.peer.measurement import (
    MODES,
    SliceFigures,
    StageFigures,
    SystemFigures,
    compute_recall,
    load_figures,
    save_figures,
    split_slices,
    to_rows,
)
from benchmarks.peer.picture import draw_growth
from benchmarks.peer.report import build_report, ratio
from benchmarks.peer.system import RunnerFailed, System
from benchmarks.peer.threadlore_runner import ReplayProvider
from benchmarks.peer.vectors import DIM, CachedVectors, VectorCache, hash_text, serve_vectors
from benchmarks.replay_language import parse_reading
from engine.llm.formats.shared_calls import split_rows_by_excerpt
from engine.llm.formats.tuple_extraction import parse_tuples
from engine.usage import UsageMeter

TEXT = "Ploverness\nThe ferry Gudgeon leaves Ploverness at noon.\tIt carries mail."
ECHO = """
import asyncio
from benchmarks.peer.runner import serve_commands, take_stdout
from benchmarks.peer.vectors import CachedVectors
from pathlib import Path
import sys

vectors = CachedVectors(Path(sys.argv[1]), sys.argv[2])

async def embed(texts):
    print("a library prints this")
    return [float(vectors.embed([text])[0][0]) for text in texts]

async def fail():
    raise ValueError("as asked")

asyncio.run(serve_commands({"embed": embed, "fail": fail}, vectors, take_stdout()))
"""


def build_figures(name: str, seconds: float) -> SystemFigures:
    slices = [SliceFigures(0, 100, seconds, seconds / 2, 3.0, 70), SliceFigures(100, 50, seconds, seconds / 2, 0.0, 0)]
    times = dict.fromkeys(MODES, (10 * seconds, 20 * seconds))
    recall: dict[str, tuple[float, ...]] = dict.fromkeys(MODES, (40.0, 60.0, 80.0))
    stage = StageFigures(150, 9, times, recall, seconds, seconds, seconds, seconds, 300.0, 200.0, 50.0)
    return SystemFigures(name, slices, [stage])


def start_echo(tmp_path: Path, address: Path) -> System:
    command = (sys.executable, "-c", ECHO, str(tmp_path / "vectors.sqlite"), str(address))
    return System("echo", command, build_environment(), tmp_path / "home", tmp_path / "log")


async def embed_hashed(texts: Sequence[str]) -> np.ndarray:
    return await HashingEmbedder(DIM).embed(texts, UsageMeter())


def test_a_stored_extraction_survives_as_a_reply_that_the_parser_reads() -> None:
    triples = [["Gudgeon", "leaves", "Ploverness"], ["Gudgeon", "carries"]]
    extraction = parse_reading(TEXT, ["Gudgeon", "Ploverness", "noon"], triples)
    assert len(extraction.links) == 1
    parsed = parse_tuples(format_reply(extraction))
    assert [mention.name for mention in parsed.mentions] == ["Gudgeon", "Ploverness", "noon"]
    assert parsed.links == extraction.links
    assert "\t" not in parsed.mentions[0].description


def test_names_of_a_question_are_whole_words_the_longest_alone_and_single_words_capitalized() -> None:
    names = ["York", "New York", "Publix", "state", "art", "Hello Love"]
    assert find_names("Which state is New York in, and what art is in publix?", names) == ("New York",)
    assert find_names("Who sang hello love at Publix?", names) == ("Hello Love", "Publix")
    row = {"question": "who sings?", "gold": ["a"]}
    assert build_question(row, names) == ReplayQuestion("who sings?", ("who sings?",), ("who sings?",), frozenset("a"))


def test_synthetic_documents_follow_the_given_ones() -> None:
    given = [replace(build_synthetic(1), key="a"), replace(build_synthetic(2), key="b")]
    assert extend(given, 1) == given[:1]
    longer = extend(given, 5)
    assert longer[:2] == given
    assert len({document.key for document in longer}) == len(longer) == 5
    parsed = parse_tuples(longer[-1].reply)
    assert (len(parsed.mentions), len(parsed.links)) == (20, 19)


def test_a_slice_ends_at_each_stage_and_at_the_end() -> None:
    assert list(split_slices(250, 100, [130, 900])) == [(0, 100), (100, 130), (130, 230), (230, 250)]


def test_recall_counts_gold_documents_among_the_first() -> None:
    question = ReplayQuestion("?", (), (), frozenset({"a", "b"}))
    assert compute_recall([question, question], [["x", "a", "b"], ["a", "b"]]) == (75.0, 100.0, 100.0)
    assert compute_recall([], []) == ()


def test_the_report_shows_ratios_in_favor_of_the_faster_and_what_is_not_comparable(tmp_path: Path) -> None:
    peer, ours = build_figures("LightRAG", 50.0), build_figures("Threadlore", 2.0)
    save_figures(tmp_path / "figures.json", (peer, ours))
    loaded = load_figures(tmp_path / "figures.json")
    text = "\n".join(build_report(loaded[0], loaded[1], 2))
    assert "| 0–100 | 2.00 | 50.00 | 25× | 0.250 | 0.010 | 25× |" in text
    assert "| all | 1.50 | 37.50 | 25× |" in text
    assert "| retrieval, mix, p50, ms | 500.0 | 20.0 | 25× |" in text
    assert "| delete one document, s | 50.00 | 2.00 | 25× |" in text
    assert "| LightRAG, global | 40.0 | 60.0 | 80.0 |" in text
    assert "LightRAG 70 in 3 s, Threadlore 70 in 3 s" in text
    assert (ratio(1.0, 4.0), ratio(1.0, 0.0)) == ("0.2×", "–")


@pytest.mark.long
def test_the_picture_names_both_curves_and_its_axes(tmp_path: Path) -> None:
    file = tmp_path / "images" / "growth.svg"
    systems = (build_figures("LightRAG 1.5.7", 50.0), build_figures("Threadlore", 2.0))
    draw_growth(systems, file)
    text = file.read_text(encoding="utf-8")
    for label in ("LightRAG 1.5.7", "2 → 1 per second", "Threadlore", "50 → 25 per second"):
        assert label in text
    for label in ("documents in the store", "documents ingested per second", "(dashed: per second of processor time)"):
        assert label in text
    draw_growth(systems, file)
    assert file.read_text(encoding="utf-8") == text


def test_the_replayed_model_answers_shared_calls_single_calls_and_summaries() -> None:
    provider, one, two = ReplayProvider(), build_synthetic(1), build_synthetic(2)
    provider.replies = {one.text: one.reply, two.text: two.reply}

    def reply(text: str) -> str:
        return provider.build_reply([{"content": "system"}, {"content": text}])

    lines = [json.dumps({"number": n, "text": each.text}) for n, each in enumerate((one, two), 1)]
    shared = split_rows_by_excerpt(reply("\n".join(("<excerpts-1>", *lines, "</excerpts-1>"))), 2)
    assert [parse_tuples(shared[n]) for n in (1, 2)] == [parse_tuples(one.reply), parse_tuples(two.reply)]
    single = parse_tuples(reply(f"<text-1>\n{one.text}\n</text-1>"))
    assert single == parse_tuples(one.reply)
    assert reply('<descriptions-1>\n"Tall."\n"Old."\n</descriptions-1>') == "Tall. Old."
    with pytest.raises(ValueError, match="no stored reply"):
        reply("Hello?")


async def test_a_runner_process_gets_missing_vectors_once_and_reports_its_errors(tmp_path: Path) -> None:
    cache, address = VectorCache(tmp_path / "vectors.sqlite"), tmp_path / "socket"
    async with serve_vectors(cache, address, embed_hashed):
        system = start_echo(tmp_path, address)
        await system.start()
        first = await system.call("embed", texts=["a ferry", "a ferry", "noon"])
        assert (first.computed, first.waited > 0, first.seconds >= 0) == (2, True, True)
        again = await system.call("embed", texts=["noon", "a ferry"])
        assert (again.computed, again.waited) == (0, 0.0)
        assert again.result == [first.result[2], first.result[0]]
        with pytest.raises(RunnerFailed, match="as asked"):
            await system.call("fail")
        assert system.resident > 1
        await system.stop()
        with pytest.raises(RunnerFailed, match="not running"):
            await system.call("fail")
    assert "a library prints this" in system.log.read_text(encoding="utf-8")
    assert set(cache.load([hash_text("noon"), hash_text("unknown")])) == {hash_text("noon")}


@pytest.mark.long
async def test_an_engine_process_ingests_edits_deletes_and_answers_after_a_restart(tmp_path: Path) -> None:
    cache, address = VectorCache(tmp_path / "vectors.sqlite"), tmp_path / "socket"
    documents = [build_synthetic(number) for number in range(3)]
    name = documents[0].text.partition(" ")[0]
    question = {"text": f"What does {name} do?", "low": [name], "high": ["case"]}
    async with serve_vectors(cache, address, embed_hashed):
        words = (tmp_path / "home", tmp_path / "vectors.sqlite", address)
        module = "benchmarks.peer.threadlore_runner"
        command = (sys.executable, "-m", module, *map(str, words))
        system = System("engine", command, build_environment(), tmp_path / "home", tmp_path / "log")
        await system.start()
        try:
            assert (await system.call("ingest", documents=to_rows(documents))).computed > 3
            await system.call("edit", document=to_rows([documents[1].edited()])[0])
            await system.call("delete", key=documents[2].key)
            with pytest.raises(RunnerFailed, match="unknown"):
                await system.call("delete", key=documents[2].key)
            assert await system.restart(mode="naive", questions=[question], rounds=0) > 0
            reply = await system.call("retrieve", mode="mix", questions=[question], rounds=2)
            assert len(reply.result["milliseconds"]) == 2
            assert reply.result["rankings"][0][0] == documents[0].key
            assert documents[2].key not in reply.result["rankings"][0]
            assert system.disk > 0
        finally:
            await system.stop()


def test_vectors_are_an_error_where_nobody_computes_them(tmp_path: Path) -> None:
    vectors = CachedVectors(tmp_path / "vectors.sqlite", str(tmp_path / "nobody"))
    with pytest.raises(FileNotFoundError):
        vectors.embed(["a ferry"])


def test_a_peer_that_cannot_be_installed_is_an_error_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "venv").write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(PeerNotInstallable, match="venv"):
        install_peer(tmp_path / "venv")


def test_without_data_the_comparison_is_skipped_with_a_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["peer", "--data", str(tmp_path)])
    program.main()
    assert capsys.readouterr().out.startswith("skipped: no data")
