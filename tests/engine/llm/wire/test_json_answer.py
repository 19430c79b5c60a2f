"""An answer that is wrapped in JSON is shown as text; JSON that was asked for is not touched."""

from __future__ import annotations

import pytest

from engine.llm.wire.json_answer import JsonAnswerUnwrapper


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
        '{"question": "When?", "chain_of_thought": ["The diary.", "Nine?"], "final answer": "Lit at \\"nine\\" [1]."}',
        '{"thinking": "One line,\ntwo lines.", "answer": "Lit at \\"nine\\" [1]."',
        '{"thinking": "The kiln", "answer": {"text": "Lit at \\"nine\\" [1]."}, "kiln": "old"}',
        """{'gedanken': 'Das Buch.', 'antwort': 'Lit at "nine" [1].'}""",
        '{"思考": "窯の日記。", "回答": "Lit at \\"nine\\" [1]."}',
        '{"thoughts": "The diary [2] says so."}\n\nLit at "nine" [1].',
        '{"thoughts": "The diary"}\n{"answer": "Lit at \\"nine\\" [1]."}',
        '[{"type": "thinking", "thinking": "Nine?"}, {"type": "text", "text": "Lit at \\"nine\\" [1]."}]',
        '{"analysis": "The diary.", "output": "Lit at \\"nine\\" [1].", "confidence": 0.9}',
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
        '{"text": "nine", "user": "Ada"}',
        '{"message": "not lit", "status": 404}',
        '{"steps": ["Fill the kiln.", "Light it with the dry wood from the shed."]}',
        '{"reasoning": "high"}',
        '[{"type": "section", "text": {"type": "mrkdwn", "text": "nine"}}]',
        '{"answer": "nine"} is what it says.',
        "```python\nprint(1)\n```",
        "",
        "{",
    ],
)
def test_other_text_is_unchanged(text: str, step: int) -> None:
    assert unwrap(text, step) == text


def test_an_object_that_is_cut_off_is_read_as_far_as_it_goes() -> None:
    assert unwrap('{"answer": "nine', 3) == "nine"


def test_the_sources_of_an_answer_that_cites_nothing_are_cited() -> None:
    listed = '["2", {"id": 3}, "[1]", "the diary of 2020 in the attic"]'
    assert unwrap(f'{{"answer": "Lit at nine.", "citations": {listed}}}', 4) == "Lit at nine. [2][3][1]"


def test_thoughts_without_an_answer_are_not_shown() -> None:
    assert not unwrap('{"thinking": "The kiln was lit at nine, which the diary says on its second page."}', 7)


def test_what_follows_an_object_stays() -> None:
    assert unwrap('```json\n{"answer": "Nine [1]."}\n```\nAsk Ada.', 7) == "Nine [1].\n\nAsk Ada."


def test_text_is_shown_at_once() -> None:
    unwrapper = JsonAnswerUnwrapper()
    assert [unwrapper.feed(piece) for piece in ('{"ki', 'ln"', ': "lit"')] == ["", "", '{"kiln": "lit"']
    assert JsonAnswerUnwrapper().feed("The") == "The"
