"""Marks of turns that a server leaves in a reply are no part of it, nor is what follows them."""

from __future__ import annotations

from random import Random

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
    *("<|im_end|>\nUser: Who else?\nAssistant: Bob.", "</s>\n\nHuman: Who else?", "<|eot_id|>\nassistant\n\nBob too."),
    *("</s>\nQuestion: Who else?", "</s>\nmodel", "</s>\n### Instruction:\nWho?", "<|im_end|>\n**User:** Who?"),
    *(
        "</s>\nQ: Who?\nA: Bob.",
        "</s>\n\nFrage: Wer?",
        "<|im_end|>\n<|im_start|>us",
        "<|im_end|>\n<|im",
        "</s>\nsystem\n",
    ),
    *("\n[INST] Who? [/INST] Bob.", " [INST] Who? [/INST] Bob.", "<|user|>Who?<|assistant|>Bob."),
]
STARTS = [
    *("<|im_start|>assistant\n", "<|assistant|>\n", "<|start_header_id|>assistant<|end_header_id|>\n\n"),
    *("<start_of_turn>model\n", "<s>", " [/INST] ", "<s>[/INST]", "<|begin_of_text|>", "<｜Assistant｜>"),
    *("[|assistant|]", "<|start_of_role|>assistant<|end_of_role|>", " [/INST]\n", "<s> [/INST]", "<s> ", "<bos> "),
    *("<|im_start|>assistant ", "<|assistant|> ", "assistant\n\n", "<s>assistant\n"),
]
CLEANED = {
    "<s> Ada runs it.</s>": "Ada runs it.",
    "<s>Ada runs it.</s>": "Ada runs it.",
    "[/INST] Ada runs the mill.</s>\n<s>[INST] Next? [/INST] Bob.": "Ada runs the mill.",
    "<bos> **Ada** runs it [1].<eos>": "**Ada** runs it [1].",
    "<|assistant|> Yes [1].\n<|user|>\nWho?\n<|assistant|>\nBob.": "Yes [1].",
    "<|im_start|>assistant 窯は九時です。<|im_end|>": "窯は九時です。",
    "It costs <s>10</s> 12 euros [1].<|im_end|>\n<|im_start|>user\nWho?": "It costs <s>10</s> 12 euros [1].",
    "<s>10</s> 12 euros [1].</s>": "<s>10</s> 12 euros [1].",
    "The mark </s> ends it [1].<|im_end|>\n<|im_start|>user\nWho?": "The mark </s> ends it [1].",
    "It is the end.</s>\nAda runs it [1].</s>": "It is the end.</s>\nAda runs it [1].",
    "</s>\nUser: Who?": "",
    "The mark </s> ends it [1].</s>": "The mark </s> ends it [1].",
    "The <|user|> mark is of Phi.<|end|>\n<|user|>\nWho?": "The <|user|> mark is of Phi.",
    "<s> It costs <s>10</s> 12 euros [1].</s>": "It costs <s>10</s> 12 euros [1].",
    "```\nmill\n```</s>": "```\nmill\n```",
    "Ask `run` </s>": "Ask `run`",
    'Ask "Ada"<|im_end|>\nUser: Who?': 'Ask "Ada"',
}
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
    "Write <|user|>Who?<|end|><|assistant|>Ada<|end|> [1].",
    "<s>Bob</s><s>Eve</s> Ada.",
    "It is the end.</s>\nUsers run it [1].",
    "<s>, </s> and <unk> are tokens [1].",
    "<s> (BOS) begins a text [1].",
    "<s> – the start of a text [1].",
    "<s>は文の始まりです [1]。",
    "Wrap it in [INST] tags [1].",
    "[INST] and [/INST] wrap what a person says [1].",
    "The format is:\n\n<s>[INST] {question} [/INST] {answer}</s>\n\nFill it.",
    "Use this.\n\n[INST] Who? [/INST]\n\nThat is all [1].",
    "Tokens:\n<s>\n</s>",
    "It ends with </s>.\n\nUser: is a role.",
    "Model\n\nIt is new [1].",
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


@pytest.mark.parametrize(("text", "shown"), CLEANED.items())
def test_what_surrounds_a_turn_is_not_shown(text: str, shown: str) -> None:
    assert {filter_stream(text, step).rstrip() for step in (1, 3, 1000)} == {shown}


def test_pieces_of_any_size_give_the_same_text() -> None:
    parts = [
        *(
            "<s>",
            "</s>",
            "<|im_end|>",
            "<|im",
            "<|user|>",
            "<|im_start|>assistant",
            "[INST]",
            "[/INST]",
            "<bos>",
            "]~b]ai",
        ),
        *(
            "<|start_of_role|>user",
            "<|end_of_role|>",
            "[",
            "<",
            "Ada.",
            "Bob runs",
            "is",
            "はい",
            "`",
            "```\n",
            "- ",
            ": ",
        ),
        *(" ", "\n", "user", "User:", "assistant\n", "model", " " * 45),
    ]
    chance = Random(7)
    for _ in range(400):
        text = "".join(chance.choices(parts, k=chance.randint(1, 9)))
        steps = (1, 2, 3, chance.randint(4, 30), 1000)
        assert len({filter_stream(text, step) for step in steps}) == 1, text


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
