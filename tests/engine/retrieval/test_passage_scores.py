from __future__ import annotations

from dataclasses import replace

from engine.models import Filters, Question
from tests.support.engine_fixture import HERE, doc, thread
from tests.support.indexed_engine import OpenIndexed

LINES = ("Ada: hello all", "Bob: the weather is fine", "Ada: the key hangs in the boathouse", "Bob: good", "Ada: bye")
KEY = Question("Where is the key to the boathouse?", HERE, mode="naive")


async def test_the_message_that_answers_is_the_first_source_and_is_read_in_its_place(indexed: OpenIndexed) -> None:
    engine = await indexed(thread("talk", *LINES, is_open=False))
    sources = (await engine.retrieve(KEY)).sources
    assert sources[0].text == LINES[2]
    assert {source.text for source in sources} == set(LINES)
    assert [source.number for source in sources] == [1, 2, 3, 4, 5]
    assert [source.text for source in sorted(sources, key=lambda source: source.position)] == list(LINES)


async def test_passages_of_files_stay_in_their_order(indexed: OpenIndexed) -> None:
    engine = await indexed(doc("file", "Rules of the house.", "The key hangs in the boathouse.", "The end."))
    sources = (await engine.retrieve(KEY)).sources
    assert [source.position for source in sources] == [source.number for source in sources]


async def test_excluded_messages_do_not_move_the_others(indexed: OpenIndexed) -> None:
    lines = [replace(passage, author=passage.text.partition(":")[0]) for passage in thread("talk", *LINES).passages]
    engine = await indexed(replace(thread("talk", *LINES, is_open=False), passages=tuple(lines)))
    sources = (await engine.retrieve(replace(KEY, filters=Filters(authors=frozenset({"Ada"}))))).sources
    assert sources[0].text == LINES[2]
    assert {source.author for source in sources} == {"Ada"}
