"""Find what a question names and its answer does not: then it is about something else. Pure."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.llm.offline.language_rules import detect_rules
from engine.llm.offline.questions.analysis import has_answer_type, is_list_noun, is_number, is_unit
from engine.llm.offline.quoting.contrasts import join_names, list_stated
from engine.llm.offline.quoting.unspaced_gaps import join_characters
from engine.llm.offline.words import content_stems, has_parts, is_generic, is_stop_word, split_words, stem, word_family
from engine.text.languages.unspaced import has_unspaced
from engine.text.patterns import compile_late
from engine.text.word_lists import CONTRASTING_WORDS, word_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.ranking import ClauseScores, Term

MIN_EXPLANATION = 2  # statements: of two without a word for it, one may be the reason for the other
MAX_BEFORE = 4  # sentences that say what a sentence is about
SELF_WORDS = word_set(
    "company firm organization business team channel project group world morning evening case meantime"
)
_ENDS = r"(?=\W{0,3}(?:\Z|[?.!,;])| (?:this|next|last) )"
_LAST_WORD = r"(?= \w+\W{0,3}\Z)"
_COMPLEMENT = compile_late(rf"\b(?:of|on|in|for|at|about|with) (?:the|a|an|our|my|your) ([\w-]+)(?: ([\w-]+))?{_ENDS}")
# Without an article, after what it qualifies: "the price of timber", not "rooms we have for meetings".
_BARE_COMPLEMENT = compile_late(rf"\b(\w+) (?:of|for|with) (?!(?:the|a|an|our|my|your) )([\w-]{{3,}}){_ENDS}")
# "How much of it is for sugar?", "when are invoices for private customers due?", "the phone of Ada's deputy".
_IS_FOR = compile_late(rf"\b(?:is|are|was|were|goes|go) (?:for|on|to) (?:the |a |an |our )?([\w-]{{3,}}){_ENDS}")
_INNER_COMPLEMENT = compile_late(
    rf"\A\W{{0,3}}(?:when|where|how \w+|what) (?:is|are|was|were) (?:the )?[\w-]+ (?:for|from|of) (?:the )?"
    rf"([\w-]{{3,}})(?: ([\w-]{{3,}}))?{_LAST_WORD}"
)
_POSSESSED = compile_late(rf"\w['’]s ([\w-]{{3,}}){_ENDS}")
_WHEN_IS = compile_late(r"\b(?:when|where) (?:is|are) (?:the|our|my|your) (?:\w+ )?(\w+) (?:of|in|at|on|for|with)\b")
_RELATIVE = compile_late(r"\w (?:that|which|who|whose|where)\b", re.IGNORECASE)
_WHEN_DOES = compile_late(
    r"\W{0,3}(?:(?:when|how (?:often|long|far|fast)) (?:was|were|did|does|do|is|are|has|have|can|must|may)"
    r"|where (?:do|does|did)) (?:(?:the|our|my) )?(?:[\w-]+ ){1,5}(\w+)"
    r"\W{0,3}\Z"
)
# What a question for yes or no, a time or a place is about.
_SUBJECT = compile_late(
    r"\W{0,3}(?:(?:when|where|how (?:often|long|far|fast))\s+)?"
    r"(?:is|are|was|were|can|may|must|do|does|did|has|have|should)\s+(?:(?:the|our|my|a|an)\s+)?([\w-]{3,})",
    re.IGNORECASE,
)
# The verb of a question for who does something.
_WHO_DOES = compile_late(r"\bwho(?:\s+(?:has|have|had|will|can|could|should|would|must))?\s+(?:\w{2,12}ly\s+)?(\w+)")
_NAME_SEPARATORS = compile_late(r"[-_./]")
# What a question for who may, must or does something is about: "who may drive the tractor?".
_WHO_DOES_WHAT = compile_late(
    r"\A\W{0,3}who(?:\s[\w']+){1,3}?\s(?:the|a|an|our|my|your)\s(?:[\w-]+\s){0,2}?([\w-]{3,})\W{0,3}\Z", re.IGNORECASE
)
# "What distance does spinach need?"
_WHAT_DOES = compile_late(
    r"\W{0,3}(?:what|which|how)\s(?:[\w-]+\s){1,2}(?:does|do|did)\s(?:(?:the|a|an|our|my|your)\s)?([\w-]{3,})\s\w+\W{0,3}\Z",
    re.IGNORECASE,
)
_LETTERED = compile_late(r"\b([A-Za-z]{3,20})\b:?\s([A-HJ-Z])(?![\w'’])")  # "hall B", in a cell "hall: B"
_NEGATED = compile_late(
    r"\b(?:not|never|no longer|cannot|nicht|nie|ne \w+ pas|jamais|nunca)\b|n['’]t\b"
    r"|\b(?:no|não) (?:se |me )?\w+[aeo][nm]?\b",
    re.IGNORECASE,
)
# Says it of some and so denies it of others, or says of what it is not so.
_DENIES = compile_late(
    r"\b(?:not?|never|nobody|none|nothing|neither|nor|cannot|without|only|except|unless|instead|but|lacks?|missing|fails?"
    r"|failed|refus\w+|forbid\w*|ban(?:s|ned)?|prohibit\w*|stop(?:s|ped)?|close[ds]?|off|out|un\w{4,}|nicht|keine?[nrms]?|nie"
    r"|niemand|ohne|nur|außer|sondern|pas|jamais|personne|sans|sauf|nunca|nadie|sin|solo|salvo|não|ninguém|sem|só)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
_LABEL = compile_late(r"\b(\w+): ")
_HIRAGANA = compile_late("[\u3041-\u309f]")  # in a pair of letters: the end of a word
MIN_BEGINNING = 4  # letters that two forms of a name share


def find_gaps(positions: Sequence[int], clause: ClauseScores, candidates: Sequence[Candidate]) -> list[str]:
    """The words of a question that its answer should have and has not, as they are written.

    These are names, ids and numbers, and words before a word that the answer has after another one: for "the winter
    party" an answer about the summer party lacks "winter".
    """
    if not positions:
        return []
    quoted = [candidates[at] for at in positions]
    known = set(quoted[0].nearby_stems).union(*(_list_heading(candidate) for candidate in quoted))
    known = known.union(*(candidate.stems for candidate in _list_around(positions[0], candidates, 0)))
    known = known.union(*(candidate.stems for at in positions for candidate in list_stated(at, candidates)))
    families = set(map(word_family, known))
    missing = [term for term in clause.terms if not _is_known(term, clause, known, families)]
    if any(term.word[0].isdigit() for term in missing):  # a number may follow as well
        further = set[str]().union(*(e.stems for at in positions for e in _list_around(at, candidates, MAX_BEFORE)))
        missing = [term for term in missing if not (term.word[0].isdigit() and term.stem in further)]
    missing = [term for term in missing if not _has_characters(term.word, quoted)]
    nouns = [term.word for term in missing if term.is_noun and not term.is_generic]
    named = join_names([term.word for term in missing if term.is_name and not term.is_generic], clause.text) + nouns
    plain = [
        term for term in missing if not (term.is_name or term.is_noun or term.is_generic or is_list_noun(term.word))
    ]
    is_row = any(candidate.text.count(": ") > 1 for candidate in quoted)  # of a table, whose labels say who does what
    others = [term.word for term in plain if _is_place(term, clause) or _is_subject(term, clause)]
    others += [term.word for term in plain if not is_row and _is_asked_verb(term, clause)]
    others += _list_other_letters(clause.text, quoted, candidates)
    others += _find_negation(clause.text, quoted) if clause.answer_type != "absence" else []
    others += [term.word for term in plain if _is_other_row(term, clause, quoted)]
    others += _find_verb_gap(positions, clause, candidates)
    others += [
        term.word
        for term in clause.terms
        if _stands_for_another(term, clause, positions, candidates) and not _has_characters(term.word, quoted)
    ]
    found = [word for word in dict.fromkeys(named + others) if not _HIRAGANA.search(word)]
    texts = [candidate.text for candidate in quoted]
    return [_add_noun(word, clause.text) for word in join_characters(found, clause.text, texts)]


def _add_noun(word: str, question: str) -> str:
    """A number with the word before it, without which it says nothing: "number 0", "locker 33"."""
    before = re.search(rf"(?<!\w)([^\W\d_]{{3,30}}) {re.escape(word)}(?!\w)", question) if word.isdecimal() else None
    return before[0] if before and not is_stop_word(before[1]) else word


def _list_heading(candidate: Candidate) -> frozenset[str]:
    """The stems of the title and heading above a sentence, without those of the sentences before it."""
    return content_stems(_NAME_SEPARATORS.sub(" ", f"{candidate.source.title} {candidate.source.label}"))


def _has_characters(word: str, quoted: Sequence[Candidate]) -> bool:
    """Whether a quotation has both of a pair of characters, which may be the ends of two words in the question."""
    return has_unspaced(word) and any(set(word) <= set(candidate.text) for candidate in quoted)


def lacks_answer(positions: Sequence[int], clause: ClauseScores, candidates: Sequence[Candidate]) -> bool:
    """Whether what is quoted has no value, time or reason, although that is what a clause asks for."""
    prose = [at for at in positions if not candidates[at].speaker]
    quoted = {*positions, *(before for at in prose for before in candidates[at].preceding)}  # context is quoted, too
    texts = [candidates[at].text for at in quoted]
    if clause.answer_type == "reason":
        said = [candidates[at].text for at in positions if not candidates[at].is_question]
        return len(said) < MIN_EXPLANATION and not any(has_answer_type(text, "reason") for text in said)
    if clause.answer_type == "absence":
        return not any(has_answer_type(text, "absence") for text in texts)
    if clause.answer_type not in {"price", "quantity", "time"}:
        return False
    numbers = any(_has_number(text, is_price=clause.answer_type == "price") for text in texts)
    fits = any(has_answer_type(text, clause.answer_type, clause.counted_stems) for text in texts)
    return bool(texts) and not (fits or numbers)


def _has_number(text: str, *, is_price: bool) -> bool:
    """Whether a text has a number that is no id; of a price, one without a unit of time, length or weight."""
    words = split_words(text)
    numbers = [
        at for at, word in enumerate(words) if is_number(word) and (word.isalpha() or not any(map(str.isalpha, word)))
    ]
    return any(not is_price or not is_unit("".join(words[at + 1 : at + 2])) for at in numbers)


def _list_around(at: int, candidates: Sequence[Candidate], after: int) -> list[Candidate]:
    """A sentence with those before it in the same source, and so many after it."""
    source = candidates[at].source
    return [
        candidate for candidate in candidates[max(0, at - MAX_BEFORE) : at + 1 + after] if candidate.source is source
    ]


def _is_known(term: Term, clause: ClauseScores, known: set[str], families: set[str]) -> bool:
    if term.stem in known or (not term.is_name and word_family(term.stem) in families):
        return True
    others = clause.alike.get(term.stem, frozenset()) | clause.other_words.get(term.stem, frozenset())
    is_meant = has_parts(term.word, known) and not others.isdisjoint(known)
    return is_meant or ((term.is_name or term.is_noun) and _has_form(term.stem, known))


def _has_form(key: str, known: set[str]) -> bool:
    """Whether another form of a name is known, with another ending: German writes all nouns like names."""
    beginning = key[: max(MIN_BEGINNING, len(key) - 2)]
    return key.isalpha() and len(key) >= MIN_BEGINNING and any(text.startswith(beginning) for text in known)


def _is_function_word(word: str) -> bool:
    return is_stop_word(word) or is_number(word)


def _is_place(term: Term, clause: ClauseScores) -> bool:
    """Whether it says of what, or where: "the warranty on the lid"."""
    text = clause.text.casefold()
    found = {stem(word) for pair in _COMPLEMENT.findall(text) for word in pair if word}
    found |= {stem(each) for head, each in _BARE_COMPLEMENT.findall(text) if not is_stop_word(head)}
    found |= {stem(word) for pattern in (_IS_FOR, _POSSESSED) for word in pattern.findall(text)}
    found |= {stem(word) for pair in _INNER_COMPLEMENT.findall(text) for word in pair if word}
    return term.stem in found and term.word.casefold() not in SELF_WORDS


def _is_subject(term: Term, clause: ClauseScores) -> bool:
    """Whether a question for yes or no, a time, a place or a person asks it of this: "are cats allowed"."""
    found = next(filter(None, (pattern.match(clause.text) for pattern in (_SUBJECT, _WHO_DOES_WHAT, _WHAT_DOES))), None)
    if found is None or found[1].casefold() in SELF_WORDS or _RELATIVE.search(clause.text):
        return False
    return found[1].casefold() == term.word.casefold()


def _is_asked_verb(term: Term, clause: ClauseScores) -> bool:
    """Whether it is the verb of a question for a person or a reason, or what a time or place is asked of."""
    text = clause.text.casefold()
    if clause.answer_type == "person":
        return term.word.casefold() in _WHO_DOES.findall(text)
    words = split_words(text)[-2:]
    is_last = words[-1:] == [term.word.casefold()] and not is_stop_word(words[0])
    return (is_last and clause.answer_type == "reason") or term.word.casefold() in _WHEN_IS.findall(text)


def _find_verb_gap(positions: Sequence[int], clause: ClauseScores, candidates: Sequence[Candidate]) -> list[str]:
    """The verb at the end of a question for a time or a place, if no quotation itself says that it happens."""
    found = _WHEN_DOES.match(clause.text.casefold())
    verb = next((term for term in clause.terms if found and found[1] == term.word.casefold()), None)
    if verb is None or verb.is_name or is_generic(verb.word) or _RELATIVE.search(clause.text):
        return []
    stated = [candidate for at in positions for candidate in list_stated(at, candidates)]
    if any(candidate.text.count(": ") > 1 or has_unspaced(candidate.text) for candidate in stated):
        return []
    known = set[str]().union(*(candidate.stems for candidate in stated))
    return [] if _is_known(verb, clause, known, set(map(word_family, known))) else [verb.word]


def _stands_for_another(
    term: Term, clause: ClauseScores, positions: Sequence[int], candidates: Sequence[Candidate]
) -> bool:
    """Whether a quotation has another word in its place, and none has the word beside what it qualifies."""
    if term.is_name or is_list_noun(term.word) or any(_names_doer(term, candidates[at].text) for at in positions):
        return False
    heads = _list_heads(term, clause)
    about = [candidates[at] for at in positions if not heads.isdisjoint(candidates[at].stems)]
    beside = [at for at in positions if any(candidates[at].source is candidate.source for candidate in about)]
    near = [candidate for at in beside for candidate in _list_around(at, candidates, 1)]
    known = set[str]().union(*(candidate.stems | candidate.nearby_stems for candidate in near))
    if not about or _is_known(term, clause, known, set(map(word_family, known))):
        return False
    return any(_qualifies_another(term, heads, clause, candidate.text) for candidate in about)


def _names_doer(term: Term, row: str) -> bool:
    """Whether a row of a table has a column for who does it: "driver: Ada" of "drives"."""
    return any(stem(label) in {f"{term.stem}{ending}" for ending in ("er", "or", "r")} for label in _LABEL.findall(row))


def _list_heads(term: Term, clause: ClauseScores) -> set[str]:
    """The stems of the words after it in the question."""
    words = split_words(clause.text)
    stems = [stem(word) for word in words]
    heads = {stems[at + 1] for at, word in enumerate(words[:-1]) if stem(word) == term.stem}
    return {stems[at] for at, word in enumerate(words) if stems[at] in heads and not _is_function_word(word)} - {"per"}


def _qualifies_another(term: Term, heads: set[str], clause: ClauseScores, quoted: str) -> bool:
    """Whether the word after it in the question stands after another word in the answer, or heads its cell.

    A word that says little counts if the other one is its opposite: weekly, monthly.
    """
    asked = {stem(word) for word in split_words(clause.text)}
    said = split_words(quoted)
    for before, word in pairwise(said):
        if stem(word) in heads and not is_stop_word(before) and stem(before) not in asked:
            return not term.is_generic or _are_contrasting(term.word, before)
    return not term.is_generic and any(f"{word}:" in quoted for word in said if stem(word) in heads)


def _list_other_letters(question: str, quoted: Sequence[Candidate], candidates: Sequence[Candidate]) -> list[str]:
    """Things that a question tells apart by a letter, if what is quoted has only others, or none of those that are.

    "Hall A", of "hall: C"; "van D", of "the electric van", where others are van A and van B.
    """
    said = next(filter(None, (_list_lettered(candidate.text) for candidate in quoted)), set())
    lettered = {noun for candidate in candidates for noun, _ in _list_lettered(candidate.text)}
    nouns = {noun for noun, _ in said} if said else lettered
    return [
        f"{noun} {letter}"
        for noun, letter in _LETTERED.findall(question)
        if noun.casefold() in nouns and (noun.casefold(), letter) not in said
    ]


def _list_lettered(text: str) -> set[tuple[str, str]]:
    """What is told apart by a letter in a text, with that letter."""
    return {(noun.casefold(), letter) for noun, letter in _LETTERED.findall(text) if not is_stop_word(noun)}


def _find_negation(question: str, quoted: Sequence[Candidate]) -> list[str]:
    """The "not" of a question, if nothing that is quoted denies or excludes anything."""
    is_portuguese = detect_rules(question).language == "pt"  # in which "no" means "in the"
    found = [each for each in _NEGATED.findall(question) if not (is_portuguese and each.startswith("no "))]
    if not found or has_unspaced(question) or any(_DENIES.search(candidate.text) for candidate in quoted):
        return []
    return [found[0].strip()]


def _is_other_row(term: Term, clause: ClauseScores, quoted: Sequence[Candidate]) -> bool:
    """Whether the word before it in the question heads the cells of what is quoted: "the light purple"."""
    words = split_words(clause.text)
    before = {words[at - 1] for at in range(1, len(words)) if words[at] == term.word} - {""}
    return any(f"{word}:" in candidate.text for candidate in quoted if candidate.is_item for word in before)


def _are_contrasting(*words: str) -> bool:
    return all(word.casefold() in CONTRASTING_WORDS for word in words)
