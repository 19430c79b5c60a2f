"""What people say before a question: phrases as in `bot.dispatch.follow_up.phrases`."""

from __future__ import annotations

from bot.dispatch.follow_up.phrases import parse_phrases

# What a question may begin with that is put as a statement.
PREFACES = parse_phrases(
    """
    i need to know, i want to know, id like to know, i would like to know, what i wanted to know,
    what i want to know, what id like to know, what i would like to know, what i need to know,
    what id love to know, what interests me, my question is, my question was, the other question is,
    the next question is, the main question is, i wanted to ask,
    i wanted to know, i was wondering, i am wondering, im wondering, im curious, i am curious, i meant to ask,
    was ich wissen, was mich interessiert, mich würde interessieren, mich interessiert, ich wollte wissen,
    ich wollte fragen, ich würde gern wissen, ich würde gerne wissen, ich frage mich, meine frage ist,
    je voulais savoir, je voudrais savoir, jaimerais savoir, je me demande, je me demandais, ma question est,
    me pregunto, me preguntaba, quería saber, quería preguntar, quisiera saber, me gustaría saber, mi pregunta es
    """
)
# What announces a question, and is no part of it.
OPENERS = parse_phrases(
    """
    one more thing, one last thing, one other thing, one more question, one last question, another thing,
    another question, quick question, quick q, next question, follow up question, side question, dumb question,
    stupid question, silly question, noch was, noch etwas, noch eine frage, kurze frage, andere frage, una cosa más,
    otra cosa, otra pregunta, una pregunta, autre question, une autre question, dernière question, petite question
    """
)
