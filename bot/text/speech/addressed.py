"""Decide what a message that addresses the bot is: something to answer, or something that it is told.

Pure, but for reading once what was learned (`kinds.weights`, `kinds.passing`). The first rule decides that applies:

1. It asks about the bot itself, greets it, or only calls it: introduction.
2. Nothing but thanks or praise: thanks. If it goes on to ask ("thanks but who pays"), or is a name: question.
3. It copies the bot in ("cc @bot"): question if it asks nobody in particular, statement if it tells, else aside.
4. What was learned from examples finds that it speaks of the bot to others ("just ask @bot"): aside.
5. It asks nothing, and begins with a request to remember, or with a contradiction that goes on: statement.
6. Its grammar shows that it asks, tells or closes a matter (`kinds.constructions`): question, statement, thanks.
7. What was learned from examples decides, by the words, their order, and what the rules of this module find. These
   rules decide what it leaves open, and Chinese. A sentence with a question mark is never a statement.
"""

from __future__ import annotations

import re
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from bot.text.speech import fragments, phrases
from bot.text.speech.addressee import is_for_person
from bot.text.speech.chat_sentences import split_sentences
from bot.text.speech.finite_clauses import states, tells_of_noun
from bot.text.speech.kinds.commands import is_command
from bot.text.speech.kinds.constructions import asks_by_form, read_construction
from bot.text.speech.kinds.introductions import asks_about_act, asks_about_bot, is_greeting
from bot.text.speech.kinds.named import is_name
from bot.text.speech.kinds.passing import mentions_in_passing
from bot.text.speech.kinds.verb_first import read_verb_first
from bot.text.speech.kinds.weights import asks_behind_call, classify
from bot.text.speech.mentions import MENTION, is_called, strip_copying, strip_mention, without_copy
from bot.text.speech.question_rules import asks_on, is_question_sentence, is_small_talk
from bot.text.speech.unspaced_questions import is_unlearned, is_unspaced, names_value, states_unspaced

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from bot.text.speech.chat_sentences import Sentence

Speech = Literal["question", "statement", "thanks", "introduction", "aside"]
Words = tuple[str, ...]

_REMEMBER = re.compile(
    r"(?:please |pls |bitte |(?:a )?(?:small|quick|kleine|kurze|petite|pequeña|pequena) "
    r"|por favor,? |merci de |s'il te plaît,? )?"
    r"(?:remember|note|save|keep in mind|bear in mind|make a note|take note|jot down|write down|correction"
    r"|reminder|be (?:aware|advised)|beachtet?(?: bitte)?|beachten|tened en cuenta|tengan en cuenta|veuillez noter"
    r"|merci de noter|favor notar|notem|merke?(?: dir| euch)?|notiere?(?: dir)?|schreib (?:dir )?auf"
    r"|fürs protokoll|korrektur|recuerda|anota|apunta|toma nota|ten en cuenta|guarda|corrección"
    r"|souviens-toi|retiens|note bien|prends note|à noter|pour mémoire"
    r"|lembra(?:-te|-se)?|lembre(?:-se)?|anote|tome nota|correção)\b",
    re.IGNORECASE,
)
# What introduces nothing but a statement, whatever its verb.
_INFORMING = re.compile(
    r"(?:just |only |nur |kurz |só )?"
    r"(?:fyi|(?:a )?heads[ -]up|for (?:your|the) (?:information|record)|(?:just )?so you know"
    r"|(?:don['’]?t|do not|never) forget|nicht vergessen|vergiss (?:bitte )?nicht|denkt? dran"
    r"|no (?:te |se )?olvid(?:es|en|e)"
    r"|n['’]oubli(?:e|ez|ons) pas|não (?:se |te )?esque[çc](?:[ae]|as|am)"
    r"|in case you did(?:n['’]?t| not) know|(?:kurz )?zur (?:info|kenntnis|information)|zu deiner info(?:rmation)?"
    r"|damit du(?:['’]?s| es) weißt|para que (?:lo )?(?:sepas|conste|quede constancia)|para tu info(?:rmación)?"
    r"|te informo|te aviso|pour (?:ton |votre )?info(?:rmation)?|à titre d['’]info(?:rmation)?|sache que"
    r"|je t['’]informe"
    r"|(?:pra|para) (?:sua info(?:rmação)?|constar|você saber|avisar|informar|registrar)|fique sabendo)\b",
    re.IGNORECASE,
)
_THAT = re.compile(r"(?:[:,–—-]|(?:this|das|esto|ceci|isto) ?[:–—]|(?:that|dass|de que|que)\b)", re.IGNORECASE)
_REMEMBER_UNSPACED = re.compile(
    r"覚えて(?:おいて)?(?:ください|ね)?|メモ(?:して)?[:：、]|記録して|记住|记一下|備忘|补充一下|更正|訂正"
    r"|^.{0,12}忘れ(?:ないで|ずに)|^别忘|^(?:ちなみに|参考まで|念のため|お知らせ|共有)|顺便说"
)
# After a single word a mark must follow: "no, at nine", not "no idea" or "wrong channel".
_CONTRADICTION = re.compile(
    r"(?:(?:no+|nope|nah|wrong|incorrect|not true|not quite|nein|nee?|nö|falsch|stimmt nicht|incorrecto"
    r"|falso|equivocado|non|faux|não|nao|errado)"
    r"\s{0,3}[,.;:!–—-]\s{0,3}"
    r"|(?:actually|(?:that|this|it)(?:'|’)?s? (?:is |was )?"
    r"(?:not (?:true|right|correct)|wrong|incorrect|outdated|out of date|old|no longer (?:true|right|correct))"
    r"|das (?:ist|stimmt) (?:so |leider )?(?:nicht|falsch|veraltet|überholt)(?: mehr| ganz| richtig| korrekt)?"
    r"|eigentlich"
    r"|(?:eso )?(?:(?:ya )?no es (?:así|cierto|correcto|verdad)|(?:está|es) (?:mal|falso|incorrecto))|en realidad"
    r"|c['’]est (?:faux|périmé|(?:pas|plus) (?:vrai|exact|correct|ça|le cas|à jour))|pas exact|en fait"
    r"|ce n['’]est (?:pas|plus) (?:vrai|exact|correct|ça|le cas|à jour)"
    r"|isso (?:(?:já )?não é|(?:não )?(?:está|tá)) (?:mais )?(?:verdade|certo|errado|assim|desatualizado)"
    r"|na verdade)[\s,.;:!–—-]{1,4})(?=\S)",
    re.IGNORECASE,
)
_CONTRADICTION_UNSPACED = re.compile(
    r"(?:いいえ|違います|違うよ?|ちがいます|いや|不对|不是|错了|其实)[、。,，\s]*(?=.{3})"
)
# Finite verbs that a subject may stand before. The second list has the same form as an English noun or article.
_FINITE = phrases.parse_words(
    """
    is are was were isnt arent wasnt werent its were theyre hes shes has hasnt havent have had will wont would
    can cant cannot could must should shouldnt may might became becomes means costs moved changed starts ends begins
    belongs needs takes lives works runs owns uses happens expires closes opens pays said says told decided agreed
    comes goes arrives stays gets does
    ist sind waren wird werden wurde wurden haben habe kostet kosten heißt beginnt endet gehört kommt bleibt gilt
    liegt steht zieht liegen stehen kommen gehen bleiben gehören beginnen enden gelten ziehen machen
    macht baut bringt fährt übernimmt muss müssen kann können soll sollen
    son está están era eran fue fueron será serán tiene tienen cuesta cuestan empieza termina vive trabaja
    viene llega sale abre cierra queda
    est sont était étaient sera seront coûte coûtent ont commence appartient vient arrive ouvre habite
    é são foi foram será está estão estavam tem têm custa custam começa fica mora trabalha vem chega sai abre fecha
    mudou ficou acaba acabam vence vencem
    """
)
_FINITE_ELSEWHERE = phrases.parse_words("war hat es a")
_ENGLISH = phrases.parse_words("the of an and to for my our")
_CHANGE = phrases.parse_words("now instead anymore longer since nowadays jetzt seit stattdessen ahora desde")
_WANTING = phrases.parse_words(
    """
    need needs want wanted wants wonder wondering looking look searching search like love know understand remember
    recall find see tell ask hope mean meant forgot forget question meine meinte gern gerne hätte frage quero parle
    pregunta pergunta brauche brauchen bräuchte bräuchten benötige hätten suche suchen möchte will wissen weiß finde
    verstehe necesito busco quiero quisiera sé encuentro cherche cherchons voudrais veux sais trouve besoin preciso
    procuro quero sei encontro
    """
)
MAX_EVIDENCE_SENTENCES = 4
_CLEAR_LENGTH = 9  # characters of a contradiction that is more than one word
_CLEFT = phrases.parse_words("is ist est es é são")
_COPULAS = phrases.parse_words("its it it’s c’est cest es é são das dies ce esto isso")
_ASKING = phrases.QUESTION_WORDS | phrases.WHETHER - {"is", "si"} | phrases.parse_words("que that dass die der das")
# "Please do not use the ladder" is told to people: nobody asks a bot to leave something.
_FORBIDDING = re.compile(
    r"(?:please |pls )?(?:dont|do not|never) (?!forget \w+\Z|(?:you|we|they|i|it|know)\b)\w|bitte (?:nicht|keine?n?) \w"
    r"|(?:merci de |prière de )?ne (?:pas |plus )?\w"
)
_PLANNING = phrases.parse_phrases("i will, we will, i must, we must, we should")  # "we will need", but "ich will"
_WHETHER_TRUE = re.compile(
    r"(?:is it|is that|it is|stimmt es|es|é|c['’]?est) (?:true|verdad|cierto|verdade|vrai|dass)\b"
)
_OR_NOT = phrases.parse_phrases("or not, oder nicht, ou pas, ou non, o no, ou não, or what, oder was")
_TO_READER = re.compile(r"-(?:moi|nous|me|nos)$")  # "donne-moi", "diz-me"
# Says in the first person what does not succeed, or what is needed: a call for help.
_STUCK = re.compile(
    r"\b(?:(?:i|we) (?:still )?(?:cant|cannot|can not|couldnt|am unable to|am not able to) (?:\w+ )?"
    r"(?:log|login|sign in|find|open|access|connect|print|install|reset|download|upload|get in(?:to)?)\b"
    r"|ich kann \b.{0,60}\bnicht (?:\w+ )?(?:einloggen|anmelden|verbinden|öffnen|finden|drucken|zugreifen)\b"
    r"|ich komme (?:nicht|leider nicht) (?:in|ins|rein|auf|an)\b"
    r"|je (?:narrive|n['’]arrive) (?:pas|plus)|je ne (?:peux|trouve|sais|comprends|parviens) (?:pas|plus)"
    r"|no (?:me |lo |la )?(?:puedo|podemos|encuentro|encontramos|logro|logramos|consigo|sé|sabemos|entiendo)\b"
    r"|não (?:consigo|conseguimos|posso|acho|encontro|encontramos|sei|sabemos|entendo)\b)"
    r"|\A(?:necesitamos|buscamos|queremos|precisamos|procuramos|quisiéramos|gostaríamos)\b"
)
_POLITE = re.compile(r"\bwould be (?:great|nice|good|helpful|lovely)\b|\bwäre (?:toll|schön|super|nett)\b")
_POLITE_END = re.compile(r" (?:please|pls|bitte|svp|stp|sil (?:te|vous) pla[iî]t|por favor)\Z")
_NO_SUBJECTS = phrases.PREPOSITIONS | phrases.CONDITIONS | _ASKING - phrases.parse_words("that das die der")


def classify_addressed(text: str, *, is_direct: bool = False) -> Speech:
    """What a message that addresses the bot is; `is_direct`: nobody else reads it, so that it is never an aside."""
    text = strip_copying(text)
    without = _without_mentions(strip_mention(text))
    if without and not is_command(without) and (called := _classify_call(without)):
        told = called == "thanks" and is_told(without)  # "merci de noter que …"
        return "statement" if told else "question" if called == "thanks" and asks_on(without) else called
    if not is_direct and (said := without_copy(text)) is not None:
        return _classify_copied(said)
    passes = bool(without) and not is_direct and mentions_in_passing(text)
    return "aside" if passes and not (is_called(text) and read_construction(without)) else _classify_said(without)


def _classify_copied(said: str) -> Speech:
    """What a message is that copies the bot in: a question if it asks nobody in particular, else told or an aside."""
    without = _without_mentions(said)
    speech, sentences = _classify_said(without) if without else "aside", split_sentences(without)
    if speech == "question" and not (any(map(_asks_others, sentences)) or asks_by_form(without)):
        return "statement"
    is_for_another = MENTION.search(said) or any(is_for_person(sentence) for sentence in sentences)
    return "aside" if speech not in {"question", "statement"} or (speech == "question" and is_for_another) else speech


def _asks_others(sentence: Sentence) -> bool:
    """Whether a sentence asks by its mark, its first words or its form; what is only named is told to those copied."""
    words = sentence.words
    opens = words[0] in phrases.AUXILIARIES | _ASKING or not (phrases.PEOPLE - {"we", "us", "wir"}).isdisjoint(words)
    wants = words[0] in phrases.IMPERATIVES or not (_WANTING | {"please", "bitte"}).isdisjoint(words[:3])
    return sentence.is_question or opens or wants or is_request(sentence) or is_unspaced("".join(words))


def _classify_said(without: str) -> Speech:
    """What a text without mentions is that is said to the bot."""
    sentences = split_sentences(without)
    if not sentences or is_command(without) or asks_by_form(without):
        return "question"
    if asks_behind_call(without, name_evidence):
        return "question"
    asks = any(sentence.is_question for sentence in sentences)
    if is_told(without) and not _asks(without, sentences):
        return "statement"
    if not asks and (shown := read_construction(without)):
        return shown
    learned = None if is_unlearned(without) else classify(without, name_evidence(without, sentences))
    speech = learned or _decide_by_rules(without, sentences)
    asks = asks or (speech == "thanks" and asks_on(without))
    return "question" if asks and (speech != "introduction" or asks_about_act(without)) else speech


def _without_mentions(body: str) -> str:
    """A text without mentions, line by line."""
    lines = (" ".join(line.split()) for line in MENTION.sub(" ", body).splitlines())
    return "\n".join(filter(None, lines))


def name_evidence(text: str, sentences: Sequence[Sentence]) -> set[str]:
    """What the rules find in a text without mentions: their verdict, and what each sentence is to each of them."""
    found = {f"rules: {_decide_by_rules(text, sentences)}"}
    if is_told(text):
        found.add("rules: told")
    for number, sentence in enumerate(sentences[:MAX_EVIDENCE_SENTENCES]):
        place = "last" if number == len(sentences) - 1 else "first"
        fits = [name for name, rule in _EVIDENCE.items() if rule(sentence)]
        found.update(f"rules: {name}" for name in fits)
        found.update(f"rules: {place} {name}" for name in fits)
        found.add(f"rules: together {' '.join(fits)}")
    return found


def _decide_by_rules(text: str, sentences: Sequence[Sentence]) -> Speech:
    """The verdict of the rules about a text without mentions."""
    if _asks(text, sentences):
        return "question"
    if is_told(text):
        return "statement"
    ends_with_period = text.endswith(".") and not text.endswith("..")
    stated = [_is_declarative(sentence, ends_with_period=ends_with_period) for sentence in sentences]
    may_explain = all(map(_may_explain, sentences))
    return "statement" if all(stated) or (any(stated) and may_explain) else "question"


def _may_explain(sentence: Sentence) -> bool:
    """Whether a sentence beside a statement may belong to it: it wants nothing, and begins with no request."""
    words = sentence.words
    wants = words[0] in phrases.IMPERATIVES or not (_WANTING | {"please", "bitte"}).isdisjoint(words[:5])
    return not wants and phrases.QUESTION_WORDS.isdisjoint(words[:2])


def _classify_call(text: str) -> Speech | None:
    """The verdict about a text that is no more than a name, a call, thanks, or a question about the bot itself."""
    if is_name(text):
        return "question"
    if asks_about_bot(text) or is_greeting(text):
        return "introduction"
    is_enough = all(map(fragments.suffices, split_sentences(text))) and bool(split_sentences(text))
    return "thanks" if is_small_talk(text) or is_enough else None


def is_told(text: str) -> bool:
    """Whether a text without mentions begins with a request to remember, or contradicts and goes on."""
    if found := _INFORMING.match(text):
        return len(text[found.end() :].split()) > 1 or is_unspaced(text)
    if found := _REMEMBER.match(text):
        rest = text[found.end() :].lstrip()
        introduced = _THAT.match(rest)
        body = rest[introduced.end() :] if introduced else rest
        return len(body.split()) > 1 and (bool(introduced) or all(map(_is_declarative, split_sentences(body))))
    if _REMEMBER_UNSPACED.search(text):
        return True
    found = _CONTRADICTION.match(text) or _CONTRADICTION_UNSPACED.match(text)
    following = split_sentences(text[found.end() :]) if found else []
    is_clear = found is not None and len(found[0]) >= _CLEAR_LENGTH
    return bool(following) and all(_corrects(sentence, is_clear=is_clear) for sentence in following)


def _corrects(sentence: Sentence, *, is_clear: bool) -> bool:
    """Whether a sentence after a contradiction says what is right: "it's Brandt", not "show me the other one".

    `is_clear`: the contradiction was one of several words, such as "that's wrong".
    """
    words = sentence.words
    is_cleft = words[0] in phrases.QUESTION_WORDS and not _CLEFT.isdisjoint(words[2:])  # "quem constrói é o Brandt"
    if not is_cleft and (is_question_sentence(sentence) or not _WANTING.isdisjoint(words[:5])):
        return False
    if _is_declarative(sentence) or names_value("".join(words)):
        return True
    if words[0] in phrases.IMPERATIVES or (not is_cleft and not phrases.QUESTION_WORDS.isdisjoint(words[:2])):
        return False
    return len(words) > (1 if is_clear else 3) or words[0] in _COPULAS


def _asks(text: str, sentences: Sequence[Sentence]) -> bool:
    """Whether any part of a text asks or requests."""
    if any(sentence.is_question for sentence in sentences):
        return True
    rest = sentences if not is_told(text) else sentences[1:]
    return any(map(is_request, rest))


def is_request(sentence: Sentence) -> bool:
    """Whether a sentence asks by its words, or offers an alternative to what it says ("… or not")."""
    words = sentence.words
    ends_open = words[-1] in phrases.QUESTION_WORDS and words[-2:-1] and words[-2] in phrases.PREPOSITIONS
    if words[-2:] in _OR_NOT or ends_open or _asks_at_end(sentence):  # "broken since when"
        return True
    if _forbids(words):
        return False
    if fragments.seeks(sentence):
        return True
    is_whole = words[0] in phrases.CONJUNCTIONS and _is_declarative(sentence)  # no fragment: the article "o"
    return is_question_sentence(sentence) and not is_whole


def _forbids(words: Words) -> bool:
    return bool(_FORBIDDING.match(" ".join(words[:5])))


def _asks_at_end(sentence: Sentence) -> bool:
    """Whether the last clause asks about the noun phrase before it: "Tuesday class, who runs it now"."""
    *before, last = sentence.clauses
    if not before or last[0] not in phrases.QUESTION_WORDS or len(last) < 2:
        return False
    words = tuple(word for clause in before for word in clause)
    return not (_find_verb(words) or states(replace(sentence, clauses=tuple(before), tokens=words)))


def _is_declarative(sentence: Sentence, *, ends_with_period: bool = False) -> bool:
    """Whether a sentence has a subject before a finite verb, and no word that asks between them (rule 6)."""
    together = "".join(sentence.words)
    if is_unspaced(together):
        return states_unspaced(together) or any(states_unspaced("".join(clause)) for clause in sentence.clauses[:-1])
    words = sentence.words
    if (order := read_verb_first(sentence)) == "tells" or _forbids(words) or fragments.reports(sentence):
        return True
    while len(words) > 1 and words[0] in phrases.LEADING:
        words = words[1:]
    if len(words) < 3 or words[0] in _NO_SUBJECTS:
        is_placed = len(words) >= 4 and words[0] in phrases.PREPOSITIONS
        return is_placed and (_find_verb(words) > 1 or (_may_state(words) and states(sentence)))
    asks_first = order == "asks" or bool(_STUCK.search(" ".join(sentence.words)))
    if asks_first or _wants(words, is_contracted=(contracted := _contracts(sentence))):
        return False
    names = words[0] == "das" and "".join(sentence.tokens[1:2])[:1].isupper()  # a German noun: "das Passwort"
    if contracted or (words[0] in phrases.SUBJECT_PRONOUNS and not names) or _has_verb(words, sentence):
        return True
    may_state = _may_state(words) and not _POLITE_END.search(" ".join(sentence.words))
    return may_state and states(sentence, ends_with_period=ends_with_period)


def _contracts(sentence: Sentence) -> bool:
    """Whether a sentence begins with a pronoun that a verb is drawn to: "I'm", "we'll"."""
    first, mark, _ = sentence.tokens[0].replace("’", "'").partition("'")
    return bool(mark) and first.casefold() in phrases.SUBJECT_PRONOUNS


def _wants(words: Words, *, is_contracted: bool) -> bool:
    """Whether a sentence with a subject asks in a polite form, or says what its author needs to know."""
    if _POLITE.search(opening := " ".join(words[:5])) or _WHETHER_TRUE.match(opening):
        return True
    speaks_first = is_contracted or words[0] in phrases.FIRST_PERSON
    return speaks_first and words[:2] not in _PLANNING and not _WANTING.isdisjoint(words[1:5])


def _may_state(words: Words) -> bool:
    """Whether words begin neither with a request nor with a verb, and contain no question word."""
    verbs = phrases.AUXILIARIES | phrases.NEGATED | phrases.INVERTED | phrases.IMPERATIVES | _WANTING
    asks = words[0] in verbs or _TO_READER.search(words[0])
    return not asks and phrases.QUESTION_WORDS.isdisjoint(words)


def _has_verb(words: Words, sentence: Sentence) -> bool:
    """Whether a known verb follows the subject; `words` are the last ones of the sentence."""
    at, skipped = _find_verb(words), len(sentence.words) - len(words)
    return at > 0 and not tells_of_noun(sentence, at + skipped)


def _find_verb(words: Words) -> int:
    """Where the finite verb of the main clause stands, after its subject and before its end; 0 if nowhere."""
    english = not _ENGLISH.isdisjoint(words)
    known: Collection[str] = _FINITE if english else _FINITE | _FINITE_ELSEWHERE
    changes = not _CHANGE.isdisjoint(words)
    for at, word in enumerate(words[1:-1], start=1):
        if word in known and words[at + 1] in phrases.QUESTION_WORDS:
            return 0  # "the question is who pays"
        if word in known or (changes and at < 4 and len(word) > 3 and word.endswith(("s", "ed", "t"))):
            return at
        if at > 0 and word in _ASKING:
            return 0
    return 0


# The rules whose findings about a sentence the learned decision weighs.
_EVIDENCE: dict[str, Callable[[Sentence], bool]] = {
    "asks": is_question_sentence,
    "declares": _is_declarative,
    "states": states,
    "reports": fragments.reports,
    "seeks": fragments.seeks,
    "requests": is_request,
    "marked": attrgetter("is_question"),
    "asks verb first": lambda sentence: read_verb_first(sentence) == "asks",
    "tells verb first": lambda sentence: read_verb_first(sentence) == "tells",
    "verb first": lambda sentence: read_verb_first(sentence) == "open",
}
