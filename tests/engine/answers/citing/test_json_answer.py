"""An answer that is wrapped in JSON is shown as text; JSON that was asked for is not touched."""

from __future__ import annotations

import pytest

from engine.answers.citing.json_answer import JsonAnswerUnwrapper


def unwrap(text: str, step: int) -> str:
    unwrapper = JsonAnswerUnwrapper()
    return "".join(unwrapper.feed(text[at : at + step]) for at in range(0, len(text), step)) + unwrapper.close()


@pytest.mark.parametrize("step", [1, 5, 1000])
@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "Lit at \\"nine\\" [1]."}',
        '{"answer": "Lit at \\"nine\\" [1].", "sources": [1]}',
        '```json\n{"reasoning": "The diary [2] says so.", "answer": "Lit at \\"nine\\" [1]."}\n```',
        '\n```\n{ "Response": "Lit at \\"nine\\" [1]." }\n```\n',
    ],
)
def test_the_answer_of_an_object_is_its_text(text: str, step: int) -> None:
    assert unwrap(text, step) == 'Lit at "nine" [1].'


@pytest.mark.parametrize("step", [1, 5, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "Lit at nine [1].",
        '{"kiln": "lit"}',
        '```json\n{"hour": 9, "answer": "nine"}\n```',
        '{"answer": 9}',
        '{"answer": "nine", "kiln": "old"}',
        '{"answer": "nine',
        '{"answer": "nine"} is what it says.',
        "```python\nprint(1)\n```",
        "",
        "{",
    ],
)
def test_other_text_is_unchanged(text: str, step: int) -> None:
    assert unwrap(text, step) == text


def test_text_is_shown_at_once() -> None:
    unwrapper = JsonAnswerUnwrapper()
    assert [unwrapper.feed(piece) for piece in ('{"ki', 'ln"', ': "lit"')] == ["", "", '{"kiln": "lit"']
    assert JsonAnswerUnwrapper().feed("The") == "The"
