"""Marks of turns that a server leaves in a reply are no part of it, nor is what follows them."""

from __future__ import annotations

import pytest

from engine.llm.wire.turn_marks import TurnFilter, cut_turn

SAID = "Ada runs the mill [1]."
ENDS = [
    *(
        "</s>",
        " </s>",
        "</s></s>",
        "<|im_end|>",
        "<|eot_id|>",
        "<|endoftext|>",
        "<|end|><|endoftext|>",
        "<end_of_turn>",
    ),
    *("<|EOT|>\n<|EOT|>\n<|EOT|>", "<eos>", "<turn|>", "<｜end▁of▁sentence｜>", "[e~["),
    *("<|END_OF_TURN_TOKEN|>", "<|im_end|>\n<|endoftext|>\n", "</s>[INST] Who else? [/INST]", "</s><s>Who else?"),
    *("\n<|im_end|>\n<|im_start|>user\nWho else?", "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nWho?"),
    *("\n<|user|>\nWho?", "[/INST]\nWho else?", "<|end_of_text|>"),
]
STARTS = [
    *("<|im_start|>assistant\n", "<|assistant|>\n", "<|start_header_id|>assistant<|end_header_id|>\n\n"),
    *("<start_of_turn>model\n", "<s>", " [/INST]\n", "<s> [/INST]", "<|begin_of_text|>", "<｜Assistant｜>"),
    *("[|assistant|]", "<|start_of_role|>assistant<|end_of_role|>"),
]
TEXTS = [
    "The mark `</s>` ends it.",
    "The mark </s> ends it; <|im_end|> does too.",
    "A turn ends with <|im_end|>",
    'It writes "</s>"\nand stops.',
    "```\n<|im_start|>user\nWho?<|im_end|>\n```\nis ChatML.",
    "<b>Ada</b> runs it; a[1] < b[2].",
    "It was <s>Bob</s>\nAda.",
    "<s>Friday</s>\nMonday is the new date [1].",
    "1. <|endoftext|>\n2. <|im_end|>\n\nBoth must be in `stop` [1].",
    "1. <|endoftext|>\n2. <|im_end|>",
    "- End of text: </s>\n- Start: <s>\n\nBoth are in tokenizer.json",
    "- Start: <s>\n- End of text: </s>",
    "The template is this [1].\n\n<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nWho?<|im_end|>\n\nFill it.",
    "<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\n\nThat is ChatML [1].",
    "Phi reads:\n\n<|user|>\nWho?<|end|>\n<|assistant|>\n\nFill it [1].",
    "The text ends so [1].\n\n    </s>\n\nThen it stops.",
    "Two tokens are new.\n\n<bos>\n<eos>\n<pad>\n\nAll are in the vocabulary [1].",
    "The stop tokens are these.\n\n<eos>\n<bos>\n\nBoth are in the vocabulary [1].",
    "It is the end.</s>\nAda runs it [1].",
    "<bos> is the first token [1].",
    "<|user|> is the mark of Phi [1].",
    "<|assistant|> is the mark of the reply [1].",
    "</s>\nis the last token [1].",
    "[Ada](https://mill.example) runs it",
    "<",
    "",
]


def filter_stream(text: str, step: int) -> str:
    turn = TurnFilter()
    return "".join(turn.feed(text[at : at + step]) for at in range(0, len(text), step)) + turn.finish()


@pytest.mark.parametrize("end", ENDS)
def test_a_mark_ends_the_reply(end: str) -> None:
    found = {filter_stream(f"{SAID}{end}", step).rstrip() for step in (1, 3, 1000)}
    assert found == {SAID}


@pytest.mark.parametrize("start", STARTS)
def test_a_mark_at_the_start_is_no_text(start: str) -> None:
    assert {filter_stream(f"{start}{SAID}", step) for step in (1, 3, 1000)} == {SAID}


@pytest.mark.parametrize("text", TEXTS)
def test_a_mark_that_a_text_speaks_of_stays(text: str) -> None:
    assert {filter_stream(text, step) for step in (1, 3, 1000)} == {text}
    assert cut_turn(text) == text


@pytest.mark.parametrize(
    "text", ["<|assistant|>", "</s>", "<|user|>", "<s></s>\n", "<|im_start|>assistant\n<|im_end|>"]
)
def test_marks_alone_are_no_reply(text: str) -> None:
    assert not {filter_stream(text, step).strip() for step in (1, 3, 1000)} - {""}


def test_text_is_shown_at_once() -> None:
    turn = TurnFilter()
    assert [turn.feed(text) for text in ("Ada ", "runs <", "b>it</b>", " </", "s>")] == [
        "Ada ",
        "runs ",
        "<b>it</b>",
        " ",
        "",
    ]


def test_marks_without_number_take_linear_time() -> None:
    assert cut_turn("a </s> b " * 40_000).startswith("a </s> b")
