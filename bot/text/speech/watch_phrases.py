"""Requests to watch in the words of a message: "tell me when somebody decides about the fence". Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.llm.offline.points.watched import WatchKind

MAX_LENGTH = 300  # characters of a request
_I = re.IGNORECASE
# What introduces a request, with the event that follows; the words for "if" only before somebody who acts.
_LEADS = (
    (
        r"(?:please,? |can you |could you |would you |will you )*(?:tell|notify|alert|inform|message|ping|warn|let) me"
        r"(?: know)?(?: here)?(?: please)?,? (?:when(?:ever)?|once|as soon as|if(?= (?:some|any)(?:body|"
        r"one))) (?P<e>.+)"
    ),
    r"(?:bitte )?(?:sag|sage|gib|sagt|gebt) mir(?: bitte)?(?: bescheid)?,? (?:wenn|sobald|falls) (?P<e>.+)",
    r"(?:bitte )?(?:benachrichtige|informiere|warne) mich(?: bitte)?,? (?:wenn|sobald|falls) (?P<e>.+)",
    (
        r"(?:s['’]il (?:te|vous) plaît,? )?(?:préviens|prévenez|dis|dites|avertis|avertissez|informe|informez|alerte|"
        r"alertez|signale|signalez)-moi,? (?:quand|lorsque |lorsqu['’]|dès que|dès qu['’]|si) ?(?P<e>.+)"
    ),
    r"(?:por favor,? )?(?:avísame|dime|notifícame|infórmame|avíseme|dígame) (?:cuando|en cuanto|si) (?P<e>.+)",
    (
        r"(?:por favor,? )?(?:me (?:avise|avisa|diga|notifique|informe)|(?:avise|avisa|diga|notifique|informe)-me) "
        r"(?:quando|assim que|se) (?P<e>.+)"
    ),
    (
        r"(?P<e>.+?)(?:たら|だら|時(?:に|は)?|とき(?:に|は)?|場合(?:に|は)?)、?(?:私に)?(?:教えて|知らせて|通知して)"
        r"(?:ください|下さい|ほしい|欲しい|ね|くれ|もらえますか)?"
    ),
)
_SOMEBODY = r"(?:some|any)(?:body|one)|people|we|they|the (?:team|group|board|council|committee)"
_JEMAND = r"jemand|wir|das team|der (?:rat|vorstand)"
_QUELQUUN = r"quelqu['’]un|on|nous|l['’]équipe|le conseil"
_ALGUIEN = r"alguien|el equipo|la junta|el consejo"
_ALGUEM = r"alguém|a equipe|o conselho"
_EVENTS: Mapping[WatchKind, Sequence[str]] = {
    "decided": (
        (
            rf"(?:{_SOMEBODY}) (?:finally )?(?:decides?|agrees?|settles?|makes? a decision)(?: (?:about|on|"
            rf"for|over))? (?P<x>.+)"
        ),
        (
            r"(?:there is |there['’]s )?(?:a |any )?decisions? (?:is |are |was )?(?:made |taken )?(?:about|"
            r"on|for|regarding) (?P<x>.+)"
        ),
        r"(?P<x>.+?) (?:is|are|gets?) (?:finally )?(?:decided|agreed|approved|settled)(?: (?:on|upon))?",
        rf"(?:{_JEMAND}) (?:etwas )?(?:über|zu[rm]?) (?P<x>.+?) (?:entscheide[tn]|beschließ(?:t|en)|abstimm(?:t|en))",
        r"(?:etwas )?(?:über|zu[rm]?) (?P<x>.+?) (?:entschieden|beschlossen) (?:wird|ist|wurde)",
        r"(?P<x>.+?) (?:entschieden|beschlossen|genehmigt) (?:wird|ist|wurde)",
        (
            rf"(?:{_QUELQUUN}) (?:décide|décidons|tranche|prend une décision) (?:de |du |des |d['’]|sur |"
            rf"pour |à propos d[eu] |"
            rf"au sujet d[eu] )?(?P<x>.+)"
        ),
        r"(?P<x>.+?) (?:est|sera) (?:décidée?|tranchée?|approuvée?)",
        rf"(?:{_ALGUIEN}|se) (?:decid[ea]|acuerd[ea]|tome una decisión) (?:algo )?(?:sobre|acerca de|de)? ?(?P<x>.+)",
        (
            rf"(?:{_ALGUEM}|se) (?:decidir|decide|tomar uma decisão) (?:algo )?(?:sobre|a respeito d[eoa]|"
            rf"d[eoa])? ?(?P<x>.+)"
        ),
        r"(?:誰か(?:が|は)?、?)?(?P<x>.+?)(?:について|に関して|のことを|を|が|は)(?:決め|決まっ|決定(?:し|され)?|決断し)た?",
    ),
    "changed": (
        (
            r"(?P<x>.+?) (?:changes?|moves?|slips?|shifts?|(?:is|are|gets?) (?:changed|moved|updated|"
            r"postponed|rescheduled|"
            r"delayed))"
        ),
        rf"(?:{_SOMEBODY}) (?:changes?|moves?|updates?|postpones?|reschedules?) (?P<x>.+)",
        r"(?:there (?:is|are) )?(?:a |any )?changes? (?:to|of|in) (?P<x>.+)",
        r"sich (?P<x>.+?) (?:ändert|verschiebt|ändern|verschieben)",
        r"(?P<x>.+?) (?:sich (?:ändert|verschiebt|ändern)|(?:geändert|verschoben|verlegt) (?:wird|ist|wurde))",
        r"(?P<x>.+?) (?:change|bouge|(?:est|sera) (?:modifiée?|reportée?|déplacée?|décalée?|changée?))",
        r"(?:cambie|cambia|se (?:mueva|aplace|modifique|cambie)) (?P<x>.+)",
        r"(?P<x>.+?) (?:cambie|cambia|se (?:mueva|aplace|modifique))",
        r"(?P<x>.+?) (?:mudar|mudarem|for (?:alterad[oa]|adiad[oa]|mudad[oa]))",
        r"(?:mudar|mudarem) (?P<x>.+)",
        r"(?P<x>.+?)(?:が|は|を)(?:変わっ|変更(?:され|し|になっ)?|延期(?:され|し|になっ)?)た?",
    ),
    "mentioned": (
        (
            rf"(?:{_SOMEBODY}) (?:mentions?|talks? (?:about|of)|writes? (?:something )?about|"
            rf"says? (?:something|anything) about|"
            r"asks? about|posts? (?:something )?(?:about|on)|brings? up|discuss(?:es)?|names?) (?P<x>.+)"
        ),
        r"(?P<x>.+?) (?:comes? up|(?:is|are|gets?) (?:mentioned|discussed|brought up|named))",
        r"jemand (?:etwas )?(?:über|von|zu[rm]?) (?P<x>.+?) (?:spricht|redet|schreibt|sagt|postet)",
        r"(?:jemand )?(?P<x>.+?) (?:erwähnt(?: wird)?|nennt|genannt wird|angesprochen wird)",
        rf"(?:{_QUELQUUN}) (?:mentionne|évoque|parle (?:de |du |des |d['’]))(?P<x>.+)",
        r"(?P<x>.+?) est (?:mentionnée?|évoquée?)",
        r"(?:alguien|se) (?:mencione|menciona|hable (?:de|sobre)|habla (?:de|sobre)|nombre) (?P<x>.+)",
        r"alguém (?:mencionar|menciona|falar (?:sobre|d[eoa])|fala (?:sobre|d[eoa])|citar) (?P<x>.+)",
        r"(?:誰か(?:が|は)?、?)?(?P<x>.+?)(?:について(?:話し|書い|触れ|言及し)|に(?:触れ|言及し)|の話(?:をし|が出)|が話題になっ)た?",
    ),
}
_ENDS = (
    (
        r"(?:please )?(?:unwatch|(?:stop|quit) (?:watching|telling me (?:about|when|of)|"
        r"notifying me (?:about|of|when))) (?P<x>.+)"
    ),
    r"(?:bitte )?sag(?:e)? mir nichts mehr (?:über|von|zu[rm]?) (?P<x>.+)",
    r"ne me (?:préviens|prévenez|dis|dites) plus (?:pour |de |du |d['’]|à propos d[eu] )?(?P<x>.+)",
    r"(?:ya )?no me (?:avises|avise) más (?:sobre|de|por) (?P<x>.+)",
    r"não me (?:avise|avisa) mais (?:sobre|d[eoa]) (?P<x>.+)",
    r"(?P<x>.+?)の(?:通知|お知らせ)(?:を)?(?:やめて|止めて)(?:ください|下さい)?",
)
_LEAD_PATTERNS = [re.compile(rf"\A(?:{lead})", _I) for lead in _LEADS]
_EVENT_PATTERNS = [(kind, re.compile(rf"\A(?:{form})", _I)) for kind, forms in _EVENTS.items() for form in forms]
_END_PATTERNS = [re.compile(rf"\A(?:{end})", _I) for end in _ENDS]
_ARTICLE = re.compile(r"(?:the|our|a|an|der|die|das|den|dem|le|la|les|l['’]|el|los|las|os?|as?) ?(?<=[ '’])", _I)
_ANYTHING = re.compile(r"(?:something|anything|it|this|that|etwas|es|das|quelque chose|algo|isso|何か)", _I)
_EDGES = " \t\n.!?…,;:。！？、\"'“”„«»‘’「」"


class WatchRequest(NamedTuple):
    """What somebody wants to be told of: a kind of event, and its subject in their words."""

    kind: WatchKind
    subject: str


def parse_watch_message(text: str) -> str:
    """The event that a message asks to be told of, in its words; empty if it asks for none."""
    text = _clean(text) if len(text) <= MAX_LENGTH else ""
    for pattern in _LEAD_PATTERNS:
        if (found := pattern.fullmatch(text)) and _parse_event(found["e"]):
            return found["e"].strip()
    return ""


def parse_end_message(text: str) -> str:
    """The subject that a message asks to be told of no more; empty if it asks for nothing like that."""
    text = _clean(text[:MAX_LENGTH])
    found = next(filter(None, (pattern.fullmatch(text) for pattern in _END_PATTERNS)), None)
    return _trim(found["x"]) if found else ""


def parse_watch_words(text: str) -> WatchRequest | None:
    """What the words of a request ask for: an event, or every mention of the words; None if there are none."""
    text = _clean(text)[:MAX_LENGTH]
    event = parse_watch_message(text) or text
    subject = _trim(event)
    return _parse_event(event) or (WatchRequest("mentioned", subject) if subject else None)


def _parse_event(event: str) -> WatchRequest | None:
    for kind, pattern in _EVENT_PATTERNS:
        found = pattern.fullmatch(event.strip(_EDGES))
        if found and (subject := _trim(found["x"])) and not _ANYTHING.fullmatch(subject):
            return WatchRequest(kind, subject)
    return None


def _clean(text: str) -> str:
    return " ".join(text.split()).strip(_EDGES)


def _trim(words: str) -> str:
    """A subject without quotation marks and its article."""
    words = words.strip(_EDGES)
    rest = _ARTICLE.sub("", words, count=1) if _ARTICLE.match(words) else words
    return rest.strip(_EDGES) or words
