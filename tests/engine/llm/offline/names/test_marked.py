from __future__ import annotations

import pytest

from engine.llm.offline.names.marked import find_marked

# A sentence, and the names that are marked in it.
MARKED = """
Tell @ada.b in #har-bour about load_index() of v2.3.1. => @ada.b, #har-bour, load_index(), v2.3.1
They sang "The Lamp of Skelby" and "Rope, Salt and Tar," twice. => The Lamp of Skelby, Rope, Salt and Tar
She said "Come in", "See here", "It Is" and "Who is Ebbe Vosk?" to him. =>
The loop-mediated tide gauge (LTG) is dry. => loop-mediated tide gauge
It is kept by the Skelby Harbour and Lighthouse Trust (SHLT). => Skelby Harbour and Lighthouse Trust
He came by bus (NEW) and by the boat (Skelby). =>
It is a rope and tar which ends in (RAT). =>
3.2.1 Tides of the Sound are high. =>
3.2.1 is out. => 3.2.1
Read [the rules](#rules) of Ebbe MacConcobar. =>
"""


@pytest.mark.parametrize("line", MARKED.strip().splitlines())
def test_marks_tell_a_name(line: str) -> None:
    sentence, _, names = line.partition(" =>")
    assert ", ".join(one.name for one in find_marked(sentence)) == names.strip()


def test_a_quoted_title_is_content_unless_its_words_tell_more() -> None:
    types = {one.name: one.type for one in find_marked('We read "Salt and Tar" at "Skelby Town Museum" then.')}
    assert types == {"Salt and Tar": "content", "Skelby Town Museum": "organization"}
