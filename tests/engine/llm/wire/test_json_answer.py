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
        '{"cot": "The kiln was lit, an old diary says so too.", "reply": {"text": "Lit at \\"nine\\" [1]."}, "k": 1}',
        """{'gedanken': 'Das Buch.', 'antwort': 'Lit at "nine" [1].'}""",
        '{"思考": "窯の日記。", "回答": "Lit at \\"nine\\" [1]."}',
        '{"thoughts": "The diary [2] says so."}\n\nLit at "nine" [1].',
        '{"thoughts": "The diary"}\n{"answer": "Lit at \\"nine\\" [1]."}',
        '[{"type": "thinking", "thinking": "Nine?"}, {"type": "text", "text": "Lit at \\"nine\\" [1]."}]',
        '{"analysis": "The diary.", "output": "Lit at \\"nine\\" [1].", "confidence": 0.9}',
        '{"thinking": {"step": 1, "note": "The diary."}, "answer": "Lit at \\"nine\\" [1]."}',
        '{"reasoning": {"steps": ["The diary [2]."]}, "answer": "Lit at \\"nine\\" [1].", "hour": 9}',
        '{"thinking": "Nine?", "notes": "none", "answer": "Lit at \\"nine\\" [1]."}',
        '```json\n{"thought": "The diary says nine."}\n```\nLit at "nine" [1].',
        '{"answer": "Lit at \\"nine\\" [1].", "language": "en"}',
        '{"question": "When?", "answer": "Lit at \\"nine\\" [1]."}',
        '{"answer": "Lit at \\"nine\\" [1].", "explanation": "The diary says so.", "length": 3}',
        '{"frage": "Wann?", "antwort": "Lit at \\"nine\\" [1]."}',
        '{"質問": "いつ？", "回答": "Lit at \\"nine\\" [1]."}',
        '{"notes": ["The diary."], "answer": "Lit at \\"nine\\" [1]."}',
        '{"thought": "Nine.", "action": "Final Answer", "action_input": "Lit at \\"nine\\" [1]."}',
        '{"answer": {"text": "Lit at \\"nine\\" [1].", "tone": "dry"}}',
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
        '{"answer": "nine"}\n\nis what it says.',
        '```json\n{"answer": "Nine [1]."}\n```\nAsk Ada.',
        '```json\n{"thinking": {"type": "enabled", "budget_tokens": 16000}}\n```\nPut this in the request [1].',
        '```json\n{"thinking": "what the model thinks of it"}\n```\nThis is the shape [1].',
        '{"reasoning": {"effort": "high"}}\n\nPut this in the request [1].',
        '{"reasoning": "high"}\n\nPut this in the request [1].',
        '{"thinking": {"type": "enabled"}, "content": "Hello [1]"}',
        '{"response": "ok", "status": 200}\nThis is what the API returns.',
        '{"response": "ok", "status": 200}',
        '{"role": "assistant", "content": "Hi there"}\nThis is the shape.',
        '{"type": "text", "text": "Hi there"}\n\nThis is the shape.',
        '{"type": "task", "status": "open", "text": "Mend the roof [1]"}',
        '{"question": "What is X?", "answer": "Y"}\na row of the test set',
        '{"question": "What is X?", "answer": "Y"}\n{"question": "What is Z?", "answer": "V"}',
        '[{"answer": "Y"}, {"answer": "V"}]',
        '{"language": "de", "reply": "Hallo", "thought": "short", "temperature": 0.2, "max": 5}',
        '{"answer": "No.", "explanation": "The mill is closed on Mondays."}',
        '{"question": "What is X?", "answer": "Y [1]"}\n{"question": "What is Z?", "answer": "V [2]"}',
        '{"response": "Nine [1]", "status": 200}\n\nThis is what the API returns.',
        '{"notes": "It is old.", "text": "nine"}',
        '{"thought": "Nine.", "action": "search", "action_input": "kiln"}',
        '{"summary": "Ada runs it [1].", "analysis": "It is old [2]."}',
        "```python\nprint(1)\n```",
        "",
        "{",
    ],
)
def test_other_text_is_unchanged(text: str, step: int) -> None:
    assert unwrap(text, step) == text


def test_an_object_that_is_cut_off_is_read_as_far_as_it_goes() -> None:
    assert unwrap('{"answer": "nine', 3) == "nine"


@pytest.mark.parametrize(
    ("listed", "cited"),
    [
        ('["2", {"id": 3}, "[1]", "the diary of 2020 in the attic"]', " [2][3][1]"),
        ('["Source 2", "Quelle 3", "S1", "[1], [2]"]', " [2][3][1][1][2]"),
        ('[{"page": 4, "id": 1}, {"number": "[2]", "title": "Plan 9"}]', " [1][2]"),
        ('"1, 2"', " [1][2]"),
        ('["Handbook, page 3", "Plan 2", "Abschnitt 2", "Seite 5", "5 May", "p. 4", "2020", "1.5"]', ""),
        ('[{"page": 4}, {"source": "Handbook, page 3"}, {"id": 1, "number": 2}, true, null, 0.9]', ""),
        ("3", ""),
        ('["[1] Handbook", "Diary [2], page 5", "Source 3: Plan 9"]', " [1][2][3]"),
        ('[{"source_id": 1}, {"source_number": "2"}, {"index": 3, "title": "Plan 9"}]', " [1][2][3]"),
        ('["message 1", "#2"]', " [1][2]"),
        ('"1 and 2"', " [1][2]"),
        ('"1, 2 und 3"', " [1][2][3]"),
        ('{"1": "Handbook", "2": "Diary"}', " [1][2]"),
        ('["1 May", "May 1 and 2", "pages 1 and 2", "1.5.", "2026-05-18", "Handbook (2)", "page 3: Tools"]', ""),
    ],
)
def test_an_answer_that_cites_nothing_cites_the_numbers_in_its_list_of_sources(listed: str, cited: str) -> None:
    assert unwrap(f'{{"answer": "Lit at nine.", "citations": {listed}}}', 4) == f"Lit at nine.{cited}"


def test_an_answer_whose_sources_are_listed_is_a_reply_beside_anything() -> None:
    assert unwrap('{"answer": "Lit at nine.", "sources": [1], "hour": 9}', 4) == "Lit at nine. [1]"


def test_an_answer_with_its_language_is_a_reply() -> None:
    assert unwrap('{"language": "en", "answer": "I found nothing."}', 4) == "I found nothing."


def test_a_number_of_one_source_is_cited() -> None:
    assert unwrap('{"answer": "Lit at nine.", "source": 1}', 4) == "Lit at nine. [1]"
    assert unwrap('{"answer": "Lit at nine.", "source": true}', 4) == "Lit at nine."


def test_an_explanation_that_cites_follows_an_answer_that_does_not() -> None:
    said = '{"answer": "No.", "explanation": "The mill is closed on Mondays [1]."}'
    assert unwrap(said, 4) == "No.\n\nThe mill is closed on Mondays [1]."


@pytest.mark.parametrize(
    "beside", ['"limits": "The diary is old [2]."', '"notes": "x [3]", "explanation": "The diary is old [2]."']
)
def test_what_cites_beside_an_answer_follows_it(beside: str) -> None:
    assert unwrap(f'{{"answer": "Nine [1].", {beside}, "hour": 9}}', 4) == "Nine [1].\n\nThe diary is old [2]."


def test_steps_that_cite_follow_as_lines() -> None:
    said = '{"answer": "Light it [1].", "steps": ["Open the door [1]", "Close it [2]"]}'
    assert unwrap(said, 4) == "Light it [1].\n\nOpen the door [1]\nClose it [2]"


def test_a_number_in_parentheses_cites_only_alone_or_behind_a_word_for_sources() -> None:
    assert unwrap('{"answer": "In the shed (room 3).", "sources": [1]}', 4) == "In the shed (room 3). [1]"
    assert unwrap('{"answer": "In the shed (source 3).", "sources": [1]}', 4) == "In the shed (source 3)."
    data = '{"answer": "the shed (room 3)", "price": 40}'
    assert unwrap(data, 4) == data


def test_what_follows_an_answer_that_cites_stays() -> None:
    said = '{"answer": "Nine [1].", "explanation": "The diary."}\n\nLet me know.'
    assert unwrap(said, 4) == "Nine [1].\n\nLet me know."


def test_thoughts_in_an_object_are_not_shown() -> None:
    assert unwrap('{"thinking": {"why": "The diary."}, "answer": "It was nine."}', 4) == "It was nine."


def test_thoughts_without_an_answer_are_not_shown() -> None:
    assert not unwrap('{"thinking": "The kiln was lit at nine, which the diary says on its second page."}', 7)


def test_what_follows_thoughts_and_an_answer_stays() -> None:
    said = '```json\n{"thinking": "The diary [2] says so.", "answer": "Nine [1]."}\n```\nAsk Ada.'
    assert unwrap(said, 7) == "Nine [1].\n\nAsk Ada."


@pytest.mark.parametrize("said", ['{"role": "assistant", "content": "Hi"}', '[{"type": "text", "text": "Hi"}]'])
def test_a_message_and_nothing_else_is_its_text(said: str) -> None:
    assert unwrap(said, 7) == "Hi"


def test_text_is_shown_at_once() -> None:
    unwrapper = JsonAnswerUnwrapper()
    assert [unwrapper.feed(piece) for piece in ('{"ki', 'ln"', ': "lit"')] == ["", "", '{"kiln": "lit"']
    assert JsonAnswerUnwrapper().feed("The") == "The"
