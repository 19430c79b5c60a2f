"""What of a question in a script without spaces a quotation lacks, in whole words."""

from __future__ import annotations

import pytest

from engine.llm.offline.quoting.gaps import find_gaps
from engine.llm.offline.quoting.unspaced_gaps import join_characters
from tests.engine.llm.offline.quoting.clauses import read, score


@pytest.mark.parametrize(
    ("words", "question", "text", "whole"),
    [
        (["轮检"], "水轮检修是哪天", "风车检修是五月九日。", ["水轮"]),
        (["一桶"], "麦子多少钱一桶", "麦子每桶九元。", []),
        (["会要", "要先"], "开会要先付多少", "开会先付三十元。", []),
        (["坊门"], "磨坊门多少钱", "磨坊墙三十元。", ["坊门"]),
        (["九月"], "九月集市谁开", "五月集市由博开。", ["九月"]),
        (["タワ", "ワー"], "タワーは誰が塗りますか", "小屋は誰も塗りません。", ["タワー"]),
        (["Oslo"], "Where is Oslo?", "Bergen is here.", ["Oslo"]),
    ],
)
def test_pairs_are_joined_to_what_is_lacking(words: list[str], question: str, text: str, whole: list[str]) -> None:
    assert join_characters(words, question, [text]) == whole


@pytest.mark.parametrize(
    ("question", "text", "gaps"),
    [
        ("ビールは1杯いくらですか", "ワインは1杯300クローネです。", []),
        ("ワインは1杯いくらですか", "ワインは1杯300クローネです。", []),
        ("灯台の鍵は誰が持っていますか", "水車の鍵はボーが持っています。", []),
        ("鐘を磨いた人は誰ですか", "鐘はボーが磨きました。", []),
        ("塩は1袋いくらですか", "砂は1袋300クローネです。", []),
        ("今の当番は誰ですか", "当番はボーです。", []),
        ("次の市は誰が開きますか", "五月の市はボーが開きます。", []),
        ("明年的租金多少钱", "租金三十元。", []),
        ("9月の市は誰が開きますか", "5月の市はボーが開きます。", ["9"]),
        ("四号磨坊什么时候开门", "三号磨坊五月九日开门。", ["四号"]),
        ("磨坊的钥匙谁拿着", "磨坊的钥匙由博拿着。", []),
    ],
)
def test_no_single_character_is_lacking(question: str, text: str, gaps: list[str]) -> None:
    candidates = read(text)
    assert find_gaps([0], score(question, candidates), candidates) == gaps
