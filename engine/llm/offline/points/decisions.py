"""Recognize decisions: by the words for them, by what a group resolves to do, and by their place in minutes. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.llm.offline.words import split_words
from engine.text.patterns import compile_late
from engine.text.word_lists import IRREGULAR_FORMS, word_set

if TYPE_CHECKING:
    from engine.llm.offline.candidates import Candidate

_LABEL = compile_late(
    r"(?:\W{0,8}(?:decisions?|decided|agreed|outcome|resolution|conclusion|result|beschl(?:uss|üsse)|entscheidung|"
    r"ergebnis|"
    r"decisión|acuerdo|resultado|décision|conclusion|résultat|decisão|acordo|conclusão)\b|決定(?:事項)?)\s{0,3}[:：]",
    re.IGNORECASE,
)
_DECIDED = compile_late(
    r"\bdecision:|\b(?:decided|resolved|agreed|approved|adopted|granted|rejected|elected|settled|unanimously|"
    r"beschlossen|entschieden|vereinbart|genehmigt|abgelehnt|decidi(?:ó|do|mos)|acord(?:ó|ado|amos)|aprobad[oa]|"
    r"décidé|convenu|adopté|approuvé|decidid[oa]|combinad[oa]|aprovad[oa])\b|"
    r"\b(?:we(?:.ll| will| are going to|.re going to)|let.s|let us) (?:go with|settle on|stick (?:with|to))\b|"
    r"\b(?:wir (?:nehmen (?:also|dann|nun)|bleiben bei|einigen uns auf)|(?:also|dann) nehmen wir|"
    r"(?:wir machen|machen wir) (?:es |das )?so)\b|"
    r"\b(?:on part sur|(?:alors|donc) (?:on (?:prend|garde)|nous (?:prenons|gardons))|"
    r"(?:on (?:prend|garde)|nous (?:prenons|gardons)) (?:alors|donc))\b|"
    r"\b(?:nos quedamos con|vamos a (?:usar|tomar)|ficamos com|vamos com (?:os?|as?)|fica (?:decidido|combinado))\b|"
    r"(?:に(?:決まり|決め(?:ました|よう|ます)|決定|します|しましょう)|ことに(?:なりました|なった|しました|した(?=[。！\s]|$))|で(?:決まり|決定))",
    re.IGNORECASE,
)
_UNDECIDED = compile_late(
    r"\b(?:if|unless|until|whether|nothing|never|nobody|not|be|should|could|would|falls|wenn|ob|nicht|si|no|ne)\b"
    r"[^.;:]{0,30}\b(?:decided|resolved|agreed|settled|chosen|approved|beschlossen|entschieden|decidido|décidé)\b",
    re.IGNORECASE,
)
# A group that says in the present, or for the future, what it does from now on: "We keep the old press."
_RESOLVE = compile_late(
    r"(?:^|[.!;:,] (?:so |then |and |also )?|^(?:so|then|ok(?:ay)?|right|fine|good),? )"
    r"(?:we(?: will|.ll)? (?:keep (?!\w+ing\b)|buy|drop|adopt|cancel|postpone|reject|accept|approve|appoint|"
    r"hire|order|"
    r"(?:switch|move|migrate|change) (?:over )?(?:to|from)|replace|retire|extend|renew|stay with|stick (?:to|with)|"
    r"stop (?!by\b)|start with|skip|choose|pick|ship|release|raise|lower|cut|close|sell|rent|standardi[sz]e on|"
    r"give up|put off|call off|settle on|opt for|do without|"
    r"go (?:ahead )?with (?:the|our|this|that|an?)(?![^.;]{0,40} to\b))\b|"
    r"wir (?:behalten|kaufen|bestellen|verschieben|streichen|verzichten auf|wechseln (?:zu|auf)|ersetzen|verlängern|"
    r"nehmen (?:lieber |jetzt |künftig )?(?:den|die|das)|wählen|mieten|"
    r"verkaufen|schließen|übernehmen|stellen auf|sagen \w+ ab)\b|"
    r"(?:nous |on )(?:gard(?:ons|e)|achet(?:ons|te)|achète|command(?:ons|e)|report(?:ons|e)|annul(?:ons|e)|"
    r"choisi(?:ssons|t)|abandonn(?:ons|e)|pass(?:ons|e) (?:à|au|aux)|rempla(?:çons|ce)|embauch(?:ons|e)|"
    r"renonc(?:ons|e)|arrêt(?:ons|e)|conserv(?:ons|e)|prolonge(?:ons)?)\b|"
    r"(?:nosotros )?(?:mantenemos|compramos|pedimos|aplazamos|cancelamos|cambiamos (?:a|por)|elegimos|contratamos|"
    r"dejamos de|conservamos|sustituimos|renunciamos a|alquilamos)\b|"
    r"(?:nós )?(?:mantemos|adiamos|escolhemos|trocamos (?:para|por)|substituímos|desistimos d[eoa]|alugamos|"
    r"encomendamos|paramos de)\b)",
    re.IGNORECASE,
)
_RESOLVE_JA = compile_late(
    r"(?:を(?:継続|購入|採用|延期|中止|変更|廃止)|に(?:変更|移行|統一)|(?:は|を)見送)(?:し|する|り|る)(?:ます|こと)?"
    r"(?=[。！\s]|$)|にする(?=[。！\s]|$)"
)
_HABIT = compile_late(
    r"\b(?:every|always|usually|normally|each|often|sometimes|mostly|never|yesterday|last (?:week|month|year)|"
    r"immer|jede[nrms]?|meistens|oft|manchmal|nie|gestern|siempre|cada|normalmente|ayer|"
    r"toujours|chaque|souvent|hier|sempre|ontem|costuma)\b|いつも|毎[日週月年]|昨日",
    re.IGNORECASE,
)
_CONDITION = compile_late(
    r"(?:^|[.,;:] )(?:if|unless|maybe|perhaps|wenn|falls|vielleicht|si|quizás|quizá|tal vez|peut-être|se|talvez)\b|"
    r"\b(?:if|unless|wenn|falls) |もし|かも",
    re.IGNORECASE,
)
_MINUTES = compile_late(
    r"\b(?:minutes (?:of|from)|minutes$|(?:meeting|team|board|council|committee|session)[ -](?:minutes|notes)|"
    r"minutes[-_ .]|resolutions?|decisions|\w*protokoll|niederschrift|beschlüsse|acta|acuerdos|compte[- ]rendu|"
    r"procès[- ]verbal|décisions|ata (?:d[aeo]|n)|decisões)\b|議事録",
    re.IGNORECASE,
)
_GROUP = compile_late(
    r"\W{0,8}(?:so |then |also )?(?:we|wir|nous|on|nosotros|nós)(?: will|.ll| werden| vamos)? (\w+)", re.IGNORECASE
)
# Verbs that report what is the case, or what was said, and set nothing.
_REPORTS = word_set(
    """
    have are need know think see like want hope believe feel wonder can could should would might may must do did had
    were was don't will expect discuss note hear remember look understand seem lack welcome thank meet wait won't
    haben sind brauchen wissen denken sehen mögen wollen hoffen glauben können sollten müssen hatten waren möchten
    avons sommes savons pensons voyons voulons espérons croyons pouvons devons a est sait pense voit veut peut doit
    tenemos somos estamos sabemos pensamos vemos queremos esperamos creemos podemos debemos hemos
    temos estamos achamos acreditamos devemos
    """
)


def is_decision(one: Candidate) -> bool:
    """Whether a sentence or message states a decision; in minutes, whatever a group says that it does."""
    text = one.text
    if one.is_question or text.rstrip().endswith("？"):
        return False
    if _LABEL.match(text):
        return True
    if _DECIDED.search(text):
        return not _UNDECIDED.search(text)
    if _HABIT.search(text) or _CONDITION.search(text):
        return False
    return bool(_RESOLVE.search(text) or _RESOLVE_JA.search(text)) or (is_in_minutes(one) and _resolves(text))


def is_in_minutes(one: Candidate) -> bool:
    """Whether a sentence is of the minutes of a meeting, or below a heading for decisions, by their names."""
    return any(_MINUTES.search(name.replace("_", " ")) for name in (one.source.title, one.source.label) if name)


def _resolves(text: str) -> bool:
    """Whether it says in the present what a group does."""
    found = _GROUP.match(text)
    if found is None:
        return False
    verb = found[1].casefold()
    is_past = verb in IRREGULAR_FORMS or (verb.endswith("ed") and verb not in {"need", "feed", "speed", "proceed"})
    return verb not in _REPORTS and not is_past and len(split_words(text)) > 2
