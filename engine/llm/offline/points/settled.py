"""Tell decisions that were made from those that are awaited, denied or recalled. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.llm.offline.points.decisions import is_decision
from engine.llm.offline.sentences import split_sentences
from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from engine.llm.offline.candidates import Candidate

_MADE = (
    r"(?:decided|resolved|agreed|settled|approved|adopted|rejected|beschlossen|entschieden|genehmigt|vereinbart|"
    r"décidé|approuvé|adopté|decidid[oa]|acordad[oa]|aprobad[oa]|aprovad[oa]|combinad[oa])"
)
_PENDING = compile_late(
    rf"\b(?:once|when|before|until|till|after|as soon as|unless|sobald|bevor|bis|nachdem|wenn|quand|avant|lorsque|"
    rf"dès que|cuando|antes|en cuanto|quando|assim que)\b[^.;:,]{{0,60}}\b{_MADE}\b|"
    rf"\b(?:hasn|haven|isn|wasn|weren|aren|didn|hadn)['’]t\b[^.;:]{{0,40}}\b{_MADE}\b|"
    rf"\b(?:keine?[rn]?|noch (?:nicht|nichts)|nichts|n['’]a (?:rien|pas)|n['’]avons (?:rien|pas)|pas encore|rien|"
    rf"todavía no|aún no|nada|nadie|ainda não|não|ninguém|nobody|no one|no|none)\b[^.;:,]{{0,40}}\b{_MADE}\b|"
    rf"\b(?:yet|still|remains?) to be\b|\b(?:might|may|could|would|wants?|hopes?|plans?|needs?|has|have) (?:\w+ )?to "
    rf"be {_MADE}\b|"
    rf"\b{_MADE} (?:nothing|nichts|rien|nada)\b|"
    r"\b(?:rumou?rs?|supposedly|allegedly|apparently|angeblich|paraît-il|supuestamente|supostamente)\b|"
    r"まだ|未定|決まって(?:い)?(?:ない|ません)|決めて(?:い)?(?:ない|ません)",
    re.IGNORECASE,
)
_RECALLED = compile_late(
    r"\b(?:(?:last|the previous|the other) (?:year|month|season|decade)|(?:years|months|ages|decades) ago|back in|"
    r"once upon|vor (?:\w+ )?(?:jahren|monaten)|letztes jahr|im letzten jahr|l['’]an dernier|l['’]année dernière|"
    r"il y a (?:\w+ )?(?:ans|mois)|el año pasado|hace (?:\w+ )?(?:años|meses)|(?:no )?ano passado|"
    r"há (?:\w+ )?(?:anos|meses))\b|去年|昨年|先月",
    re.IGNORECASE,
)
# Where a sentence goes over to something else.
_TURN = compile_late(
    r"[;；]|,? (?:but|while|whereas|however|although|though|aber|während|jedoch|mais|tandis que|alors que|pero|"
    r"mientras que|aunque|mas|porém|enquanto) |、?(?:しかし|けど|けれど)",
    re.IGNORECASE,
)


def list_settled(one: Candidate) -> list[str]:
    """The parts of a sentence or message that state a decision that is made."""
    return [text for text in list_parts(one.text) if is_settled(replace(one, text=text))]


def list_parts(text: str) -> list[str]:
    """The sentences of a text, and of each what comes before and after it goes over to something else."""
    parts = (part.strip() for sentence in split_sentences(text) for part in _TURN.split(sentence))
    return [part for part in parts if part]


def is_settled(one: Candidate) -> bool:
    """Whether a sentence states a decision that is made, neither awaited nor denied, nor of another year."""
    return is_decision(one) and not _PENDING.search(one.text) and not _RECALLED.search(one.text)
