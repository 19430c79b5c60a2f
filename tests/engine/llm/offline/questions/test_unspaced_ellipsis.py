from __future__ import annotations

import pytest

from engine.llm.offline.questions.unspaced_ellipsis import complete_unspaced


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        ("犬は何匹？", "犬は何匹？ (青山施設)"),
        ("定員は何人ですか？", "定員は何人ですか？ (青山施設)"),
        ("請求書は誰が承認しますか？", "請求書は誰が承認しますか？"),
        ("担当は？", "担当は？ (青山施設)"),
        ("赤坂施設は？", "赤坂施設は？ (開館時間)"),
        ("青山施設の犬は何匹？", "青山施設の犬は何匹？"),
        ("広いですか？", "広いですか？ (青山施設)"),
        ("どこ？", "どこ？ (青山施設)"),
        ("駅にロッカーはありますか？", "駅にロッカーはありますか？"),
    ],
)
def test_a_question_gets_what_it_lacks(question: str, whole: str) -> None:
    assert complete_unspaced(question, "青山施設の開館時間は何時ですか") == whole
