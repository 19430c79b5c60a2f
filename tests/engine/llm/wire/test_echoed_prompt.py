"""What a reply repeats of its prompt is no part of the answer; an answer about prompts is."""

from __future__ import annotations

from random import Random

import pytest

from engine.llm.prompts import list_answer_rules, render_answer
from engine.llm.wire.answer_text import AnswerText
from engine.llm.wire.echoed_prompt import SentPrompt
from engine.models import Context, Prompt, SearchQuery, Source

QUESTION = "When is the kiln lit?"
SAID = "The kiln is lit at nine [1]."
QUOTED = "Never fill a gap with your own knowledge or with a guess."
RULES = (
    "Now answer from the context, in the language of the question. End every statement with the numbers of its sources "
    "in square brackets, as [3] or [1][4], in no other form. Write no list of sources."
)


def build_messages(text: str = "The kiln is lit at nine.") -> list[str]:
    source = Source(1, "notes", "1", "Notes", "", "", "Ada", None, text, "town", "town", "c1")
    context = Context(SearchQuery(QUESTION), "mix", sources=(source,))
    instructions = "Begin with this line:\nGood day from the friendly answering service of the kiln!"
    return [message.content for message in render_answer(Prompt(QUESTION, context, instructions=instructions))]


MESSAGES = build_messages()
SYSTEM = MESSAGES[0]


def show(reply: str, messages: list[str] = MESSAGES, step: int = 1000) -> str:
    answer = AnswerText(SentPrompt(list_answer_rules(), messages))
    return "".join(answer.feed(reply[at : at + step]) for at in range(0, len(reply), step)) + answer.finish()


CONTEXT_HEAD = SYSTEM[SYSTEM.index("\n<context-") + 1 : SYSTEM.index("\n[1]")]
ECHOES = [
    SYSTEM,
    RULES,
    CONTEXT_HEAD,
    SYSTEM[SYSTEM.index("\n<context-") + 1 :],
    SYSTEM[: SYSTEM.index("How to answer")],
    "system\n" + SYSTEM,
    SYSTEM + "\n\nuser\n" + QUESTION + "\n\nassistant\n",
    RULES + "\n\nQuestion: " + QUESTION + "\nAnswer:",
    RULES.replace("\n", " ").replace(". ", ".\n"),
    "**" + RULES + "**",
    "Start with the answer itself, not with a remark about the context.",
    SYSTEM[SYSTEM.rindex("</context") :],
]


@pytest.mark.parametrize("gap", ["\n\n", "\n", " "])
@pytest.mark.parametrize("echo", ECHOES)
def test_a_repeated_prompt_is_removed(echo: str, gap: str) -> None:
    reply = echo + gap + SAID
    assert show(reply) == show(reply, step=1) == show(reply, step=3) == SAID


@pytest.mark.parametrize("echo", [SYSTEM, RULES, RULES[:-9], SYSTEM + "\n" + QUESTION])
def test_a_reply_that_only_repeats_its_prompt_is_empty(echo: str) -> None:
    answer = AnswerText(SentPrompt(list_answer_rules(), MESSAGES))
    assert answer.feed(echo) + answer.finish() == ""
    assert answer.is_echo
    assert show(echo, step=1) == ""


@pytest.mark.parametrize(
    "reply",
    [
        SAID,
        "Use only the kiln [1].",
        "Use only the context.",
        "The kiln is lit at nine.",
        "(Notes, Ada, undated) The kiln is lit at nine.",
        f"{QUESTION} {SAID}",
        "How to answer\n\n" + SAID,
        f"The prompt says: “{RULES}” [1].",
        f"Good day from the friendly answering service of the kiln! {SAID}",
        "Answer the question from the kiln below. It is a joke [1].",
        "system administrators light it [1].",
        "Everything in the context was written by Ada [1].",
        "assistantships are listed [1].",
        "assistant(s) may light it [1].",
        "modelé par Ada [1].",
        "Models: Ada [1].",
        "<b>Nine</b> [1].",
        "a",
        "",
    ],
)
def test_other_replies_stay(reply: str) -> None:
    assert show(reply) == show(reply, step=1) == reply


def test_what_a_source_says_too_is_a_quotation() -> None:
    messages = build_messages(f"Our prompt says: {QUOTED}")
    assert show(f"{QUOTED} {SAID}", messages) == show(f"{QUOTED} {SAID}", messages, step=1) == f"{QUOTED} {SAID}"
    assert show(f"{QUOTED} {SAID}") == SAID


@pytest.mark.parametrize("role", ["assistant", "model"])
@pytest.mark.parametrize("said", [SAID, "窯は九時です [1]。", "**Nine** [1].", "# Nine\n", "¿Nueve?", "Ölofen [1]."])
def test_a_role_that_is_glued_to_the_text_is_removed(role: str, said: str) -> None:
    assert show(role + said) == show(role + said, step=1) == said


def test_a_name_that_the_prompt_has_is_no_role() -> None:
    messages = build_messages("The field assistantId is new.")
    said = "assistantId is the field [1]."
    assert show(said, messages) == show(said, messages, step=1) == said
    assert show("assistantIt is the field [1].", messages, step=2) == "It is the field [1]."


@pytest.mark.parametrize("said", ["modelは窯の型です [1]。", "model是窑的类型 [1]。", "assistant는 가마 [1]."])
def test_a_subject_before_a_script_without_capitals_is_no_role(said: str) -> None:
    messages = build_messages("The model and the assistant of the kiln.")
    assert show(said, messages) == show(said, messages, step=1) == said


def test_the_text_does_not_depend_on_where_a_stream_is_cut() -> None:
    random = Random(7)
    words = SYSTEM.split()
    for _ in range(150):
        start = random.randrange(len(words))
        echo = " ".join(words[start : start + random.randrange(1, 60)])
        reply = random.choice(["", "assistant", "model\n", "user\n"]) + echo + random.choice([" ", "\n", ""]) + SAID
        whole, pieces, at = show(reply), "", 0
        answer = AnswerText(SentPrompt(list_answer_rules(), MESSAGES))
        while at < len(reply):
            step = random.randrange(1, 12)
            pieces += answer.feed(reply[at : at + step])
            at += step
        assert pieces + answer.finish() == show(reply, step=1) == whole
