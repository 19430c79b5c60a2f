"""Forms of questions that leave out their subject, or only exchange a number. Pure."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from engine.llm.offline.words import content_words, split_words, stem
from engine.text.patterns import compile_late
from engine.text.word_lists import ATTRIBUTE_WORDS, word_set

if TYPE_CHECKING:
    from collections.abc import Sequence

# What a question may ask for before its verb: "que horas abre?".
_UNITS = (
    "horas?|d[ií]as?|fechas?|datas?|mes|mês|años?|anos?|precios?|preços?|tiempo|tempo|edad|idade|colou?r|cor|tamaño"
    "|tamanho|altura|direcci[óo]n|endereço|horario|horário|número|nombre|nome"
)
_VERB = r"(?!(?:el|la|los|las|o|a|os|as|un|una|um|uma|es|é|lo)\b)(?!\w+[aei]mos\b)[^\W\dA-ZÀ-Þ]\w*"
# Verbs of more than one word: "fue construido", "va a abrir", "pode custar".
_VERBS = (
    r"(?:est[áa]n?|estava|estaba|fica|fue|foi|fueron|foram|ser[áa]) \w+(?:[aií]d|iert|ert|crit|eit|uest|ost)[oa]s?"
    r"|(?:van? a|vai|vão|puede[n]?|pode[m]?|deben?|deve[m]?|suele[n]?) \w+[aeií]r"
)
# A verb without a subject after a question word: "¿a qué hora abre?", "que horas abre?", "quanto custa?". Of two words
# the second would be what is asked of: "¿cómo pido vacaciones?".
_WITHOUT_SUBJECT = compile_late(
    r"\A\W*(?:(?i:y|e|pero|mas|entonces|então)\s+)?(?:(?i:a|de|en|em|con|com|desde|hasta|até|para|por)\s+)?"
    r"(?i:qué|que|cuál|cual|qual|cuánto|cuanto|cuánta|quanto|quanta|cuándo|cuando|quando|dónde|donde|onde|cómo|como"
    rf"|quién|quien|quem)(?:\s+(?:{_UNITS}))?(?:\s+(?:se|le|les|lhes?|nos|ya|já|no|não))*\s+(?:{_VERBS}|{_VERB})"
    r"(?:\s+(?:hoy|mañana|ahora|entonces|aquí|allí|hoje|amanhã|agora|aqui|ali|lá))?\W*\Z"
    # Or what it is like: "¿está abierto?", "é caro?".
    r"|\A\W*(?:(?i:y|e|pero|mas)\s+)?(?i:no\s|não\s)?(?i:está[ns]?|estão|es|son|é|são|fue|foi|era|será)\s+"
    r"(?:(?:muy|muito|tan|tão|demasiado|ya|já|aún|ainda)\s+)?[a-zà-ÿ]+(?<![aei]r)[?!\s]*\Z"
    rf"|\A\W*(?:(?i:y|e)\s+)?(?i:de|en|em|a)\s+(?:qué|que)\s+(?:{_UNITS})\s+(?:es|son|é|são)\W*\Z"
    r"|\A\W*(?:(?i:y|e)\s+)?(?i:cuánt[oa]s|quant[oa]s)\s+\w+\s+(?:tienen?|tem|têm)\W*\Z"
    r"|\A\W*(?:(?i:y|e)\s+)?(?i:se\s+puede|puedo|podemos|pode-se|posso|podemos)\s+\w+[aei]r\W*\Z"
)
# "Ab wann ist da Sprechstunde?" but not "wann ist da jemand im Lager?", which names its own place.
GERMAN_THERE = (
    r"\b(?-i:(?:ist|sind|wird|gilt) da)\b(?!.* (?:an|auf|bei|beim|hinter|in|neben|vor|zum|zur"
    r"|im (?!(?:sommer|winter|herbst|frühling|frühjahr|mai|jun[io]|jul[io]|august|april|\w+uar|märz|\w+ber)\b)"
    r"|am (?!\w*(?:tag|abend|mittag|morgen|woch|ende)\b|\d)) ?\w)"
)
# An unstressed object before the verb: "¿quién lo dirige?", "qui le dirige ?".
_OBJECT = compile_late(
    r"\b(?:quién|quien|cuándo|cuando|dónde|donde|cómo|como|quem|qui|quand|où|comment|pourquoi|por qué) "
    r"(?:lo|la|los|las|le|les|o|a)(?= \w+\W*\Z)",
    re.IGNORECASE,
)
_NUMBER = compile_late(
    r"\A\W*(?:(?:and|but|or|und|aber|y|et|e|what about|how about|was ist mit)\s+)*"
    r"(?:(?:number|no\.?|nr\.?|nummer|número|numéro|n°|the)\s*)?#?\d[\w.-]{0,8}\W*\Z",
    re.IGNORECASE,
)
# What stands for the noun of the question before: "celui de Brest", "the one in Lyon".
_NOUN = compile_late(
    r"\A\W*(?:celui|celle|ceux|celles|(?:the )?ones?|that|those|derjenige|diejenige|aquel|aquella|aquele|aquela)"
    r" (?:de|du|des|d['’]|à|in|of|at|from|for|von|aus|da|do|em)\b"
    r"|\A\W*(?:el|la|los|las|o|a|os|as) (?:de|del|da|do|das|dos)\b"
    r"|\A\W*(?:der|die|das|den|dem) (?:vom|von|aus|im|in|am|beim|bei|für)\b",
    re.IGNORECASE,
)
# A noun with its article, and "of" behind it: "le cours de tissage", "the course of weaving".
_NOUN_WITH_OWNER = compile_late(
    r"\b(?:the|der|die|das|den|dem|el|la|los|las|le|les|l['’]|o|a|os|as|du|del|do|da)\s?([^\W\d]{3,40})"
    r"(?=(?: (?:of|von|vom|der|des|de|du|del|da|do)\b| d['’])\W{0,2}(\w))",
    re.IGNORECASE,
)
_OWNED_BY = r"(?:of|von|vom|der|des|del|de|du|da|do|d['’])\s?(?:(?:the|der|dem|den|la|le|les|los|las|el|os|as|o|a)\s)?"
_ATTRIBUTES = frozenset(stem(word) for word in ATTRIBUTE_WORDS)
_KIND_ASKED = compile_late(  # the type of answer that a question with another subject needs, too
    r"\A(?:\W|and |but |und |y |et |e )*(when|where|how (?:many|much|long|far|old|often)|wann|wo"
    r"|wie (?:viele?|lange|oft|weit)|cuándo|dónde|cuántos|cuántas|quand|où|combien|quando|onde|quantos|quantas)\b",
    re.IGNORECASE,
)
_THING_PRONOUN = compile_late(r"\b(?:it|its)\b", re.IGNORECASE)
# Asks for a name, which the answer tells: "who builds it", "which company", "what is it called".
_ASKS_NAME = compile_late(
    r"\b(?:who|whom|which|wer|wen|wem|welche\w*|quién(?:es)?|quien(?:es)?|cuál(?:es)?|qui|quels?|quelles?|quem|qual|quais"
    r"|called|named|heißt|llama|appelle|chama|names?|namen|nombres?|noms?|nomes?)\b|谁|誰|どの|哪|名前|名称|名字",
    re.IGNORECASE,
)
# Those who act, whom an answer names: "when do they deliver it", "wann liefern sie".
_ACTORS = compile_late(
    r"\b(?:they|them|theirs?|(?-i:sie|ihnen|deren|ihre?[nmrs]?)|ils|elles|eux|leurs?|ell[oa]s|el[ea]s|del[ea]s)\b",
    re.IGNORECASE,
)
_PLURAL_VERB = compile_late(r"(?<!está)(?<!sã)[^\W\d_](?:[aeo]n|[ae]m|ão)\W*\Z")
_BEFORE_QUESTION = compile_late(r"(?:[!?…]|(?<=[^\W\d_]{3})\.)\s+(?=[^\W\d_a-zà-ÿ]|¿)")
_OWNERS = word_set("de del du des da do das dos von vom der of")


def lacks_subject(question: str) -> bool:
    """Whether a question has a verb, and nothing that could be its subject."""
    return bool(_WITHOUT_SUBJECT.match(question))


def has_object_pronoun(question: str) -> bool:
    """Whether an unstressed pronoun stands for what the question is about."""
    return bool(_OBJECT.search(question))


def exchanges_number(question: str) -> bool:
    """Whether a question names another number, and nothing else: "and number 7?"."""
    return bool(_NUMBER.match(question))


def stands_for_noun(question: str) -> bool:
    """Whether a question begins with a word for the noun of the question before."""
    return bool(_NOUN.match(question))


def find_same_noun(fragment: str, question: str) -> str:
    """The noun that a fragment gives another owner than the question before, or stands for; empty if there is none.

    After "when does the course of pottery begin?" it is "course": "the course of weaving?", "the one of weaving?".
    """
    if stands := _NOUN.match(fragment):
        nouns = list(_NOUN_WITH_OWNER.finditer(question))
        is_name = fragment[stands.end() :].lstrip()[:1].isupper()  # "celle de Brest" is another one of a place
        named = [noun for noun in nouns if is_name and noun[2].isupper()]
        return next((noun[1] for noun in (*named, *nouns)), "")
    found = _NOUN_WITH_OWNER.match(fragment)
    is_same = found is not None and stem(found[1]) in map(stem, split_words(question))
    return found[1] if found and is_same and stem(found[1]) not in _ATTRIBUTES else ""


def list_asked_of(noun: str, question: str) -> list[str]:
    """What a question asks of a noun, without what owns that."""
    owner = re.search(rf"\b{re.escape(noun)} {_OWNED_BY}([\w’'-]+)", question, re.IGNORECASE)
    asked = [word for word in content_words(question) if owner is None or stem(word) != stem(owner[1])]
    return [*list_kind_asked(question), *asked]


def list_kind_asked(question: str) -> list[str]:
    """The words of a question for the type of its answer: "how many"."""
    return [found[1].lower() for found in _KIND_ASKED.finditer(question)]


def means_thing(question: str) -> bool:
    """Whether a pronoun cannot mean a person, or stands for what the question before was about."""
    return bool(_THING_PRONOUN.search(question)) or has_object_pronoun(question)


def means_actors(question: str) -> bool:
    """Whether a pronoun may mean several people, or a company."""
    return bool(_ACTORS.search(question))


def acts_together(question: str) -> bool:
    """Whether the verb of a question without a subject has several, or a company: "¿cuándo entregan?"."""
    return lacks_subject(question) and bool(_PLURAL_VERB.search(question))


def drop_owners(words: list[str]) -> list[str]:
    """The words of a noun phrase without "of"; of "price of the shelter of Teruel", what owns the first word."""
    parts = [list[str]()]
    for word in words:
        if word.casefold() in _OWNERS:
            parts.append([])
        else:
            parts[-1].append(word)
    filled = [part for part in parts if part]
    return [word for part in (filled[1:] if len(filled) > 2 else filled) for word in part]


def asks_name(question: str) -> bool:
    """Whether a question asks for a person or a thing, so that what follows may be about the answer."""
    return bool(_ASKS_NAME.search(question))


def find_last_question(text: str) -> str:
    """The question that a text of several sentences ends with; else the text: "Really? What about asphalt?"."""
    return _BEFORE_QUESTION.split(text)[-1] if text.endswith("?") else text


def without_phrase(asked: Sequence[str], question: str, preposition: str) -> list[str]:
    """The words without those that the same preposition introduced in the question; of a name nothing behind it."""
    found = re.search(rf"\b{re.escape(preposition)}\s+((?:\w+\s*){{1,3}})", question, re.IGNORECASE)
    phrase = split_words(found[1]) if found else []
    named = list(takewhile(lambda word: word[:1].isupper(), phrase))
    replaced = {stem(word) for word in named or phrase}
    return [word for word in asked if not replaced or not replaced.issuperset(map(stem, split_words(word)))]
