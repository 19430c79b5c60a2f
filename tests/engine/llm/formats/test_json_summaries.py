from __future__ import annotations

import pytest

from engine.llm.formats.json_summaries import parse_summaries

END = "<|COMPLETE|>"


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (f"summary<|#|>1<|#|>Ada mills.\nsummary<|#|>2<|#|>It is old.\n{END}", {1: "Ada mills.", 2: "It is old."}),
        (f"(summary<|#|>1<|#|>Ada mills.)\n{END}", {1: "Ada mills."}),
        (f"**Summary**<|>#1<|#|>Ada mills.\n{END}", {}),
        (f"Summary<#>1.<|#|Ada mills.\n{END}", {1: "Ada mills."}),
        (f"Here they are:\nsummary<|#|>1<|#|>Ada mills.\nShe owns it.\n{END}", {1: "Ada mills.\nShe owns it."}),
        (f"summary<|#|>1<|#|>Ada mills.\nsummary<|#|>1<|#|>Bo does.\n{END}", {}),
        (f"summary<|#|>1<|#|>Ada mills.\nsummary<|#|>2<|#|>\nIt is old.\n{END}", {1: "Ada mills.", 2: "It is old."}),
        (f"summary<|#|>1<|#|>Ada mills.\n2<|#|>It is old.\nsummary<|#|>3<|#|>Bo bakes.\n{END}", {3: "Bo bakes."}),
        (f"```\nsummary<|#|>1<|#|>Ada mills.\n{END}\n```\nLet me know if you need more.", {1: "Ada mills."}),
        (f"summary<|#|>0<|#|>Ada mills.\nsummary<|#|>1<|#|>It is old.\n{END}", {}),
        (f"summary<|#|>1<|#|>Ada mills.\nsummary<|#|>4<|#|>Nobody asked.\n{END}", {}),
        ("summary<|#|>1<|#|>Ada mills.\nsummary<|#|>2<|#|>It is o", {1: "Ada mills."}),
        (f"<think>summary<|#|>1<|#|>Hm.</think>summary<|#|>1<|#|>Ada mills.{END}", {1: "Ada mills."}),
        (f"summary<|#|>1<|#|>\n{END}", {}),
        ("", {}),
        ("I cannot do that.", {}),
    ],
)
def test_clear_texts_are_read_and_others_dropped(reply: str, found: dict[int, str]) -> None:
    assert parse_summaries(reply, 3) == found
