"""Tell by its grammar what a message without a question mark is, where its words mislead. Pure.

It tells something if

1. it begins with a clause that is the subject of what follows: "what you said was right", "whoever is last locks up",
2. it says what its author did or is about to do: "arreglé la fuga", "Ada's going to bring it",
3. it gives a time or an amount behind the name of something: "gate: 9:30", or what is new: "new day: Wednesday",
4. it asks to be waited for, which is no question to a bot, or closes a matter: "found it, never mind",
5. it supposes something, or puts a word in the place of another: "maybe Ada signs tomorrow", "not Lyon, Lille".

It asks something if

6. its last clause begins with a verb and a pronoun: "they charge 12 euros, is that right",
7. it ends with a word that wants to be confirmed, or offers an alternative: "we are forty, oder", "… or just the bill",
8. it names all that somebody said: "todo lo que dijo Julia del tejado",
9. it says that its author cannot get in: "no luck with the portal login".
"""

from __future__ import annotations

import re
from typing import Literal

from engine.text.time_spans import MONTHS, WEEKDAYS

MAX_LENGTH = 240  # characters of a message that is so plain
_RIGHT = (
    r"(?:(?:not|nicht|no|não|pas|so|quite|really|totally|ganz|genau|muy|très|bien|super|bem|übrigens"
    r"|leider|schon|jetzt"
    r"|still|now) )?(?:right|wrong|true|false|correct|incorrect|outdated|out of date|old|fine|good|great|helpful|nice"
    r"|(?:richtig|falsch|wahr|veraltet|überholt|gut|korrekt|hilfreich)|(?:juste?s?|fauxe?|vraie?s?"
    r"|exacte?s?|périmée?s?"
    r"|correcte?s?|bone?s?|utiles?)|(?:correct|incorrect|fals|ciert|buen|viej|desfasad)[oa]s?|verdad|bien|mal"
    r"|(?:cert|errad|corret|desatualizad|velh|bo)[oma]s?|verdade|perfe[ic]to?s?)"
)
_ASIDE = r"(?: (?:anyway|btw|by the way|now|übrigens|au fait|d'ailleurs|por cierto|aliás|though))?\Z"
_SUBJECT_CLAUSE = re.compile(
    rf"(?:what (?:you|he|she|we|i|they|it) [^?]{{1,120}} (?:is|was|were|are) {_RIGHT}{_ASIDE}"
    r"|(?:whoever|whatever|whichever|wherever|whenever) \w"
    r"|how (?:the|a|an|our|my|this|it) [^?]{1,80} (?:is|was|are) (?:explained|described|documented|written|shown) "
    rf"|was (?:du|er|sie|ihr|wir|ich|man) [^?]{{1,120}} (?:ist|war|sind|waren|stimmt|stimmte){_ASIDE}"
    rf"|was (?:du|er|sie|ihr|wir|ich|man) [^?]{{1,120}} (?:ist|war|sind|waren) {_RIGHT}{_ASIDE}"
    rf"|ce qu(?:e|i|')[^?]{{1,120}} (?:est|était|sont|étaient) {_RIGHT}{_ASIDE}"
    rf"|lo que [^?]{{1,120}} (?:es|era|son|está|estaba|fue) {_RIGHT}{_ASIDE}"
    rf"|o que (?:voc[eê]s?|vc|tu|el[ea]s?|a gente|nós|eu|o|a) [^?]{{1,120}} (?:é|era|está|tá|tava|estava|foi) "
    rf"{_RIGHT}{_ASIDE}"
    r"|(?:le|la) (?:premi(?:er|ère)|derni(?:er|ère)) (?:qui|à) \w|(?:el|la) (?:primer[oa]|últim[oa]) (?:que|en) \w"
    r"|(?:o|a) (?:primeir[oa]|últim[oa]) (?:que|a) \w|(?:der|die) (?:erste|letzte) (?:macht|schließt|nimmt) "
    r"|quem (?:sair|chegar|quiser|precisar|tiver|for|vier|puder|vir|ficar|usar|fizer) )"
)
# The first person of a Spanish or Portuguese past, a French one, and what somebody is about to do.
_DID = re.compile(
    r"(?:(?:ya|já|hoy|hoje|ayer|ontem) )?(?!(?:qué|porqué|sé|olvidé|perdí|busqué|intenté|sei|saberei"
    r"|esqueci|perdi|procurei"
    r"|tentei|precisei|gostei|adorei|olhei|li|leí|vi)\b)(?:\w{3,20}(?:é|ei)|consegui|pedí|pedi|abrí"
    r"|abri|escribí|recibí"
    r"|recebi|subí|subi) "
    r"(?:el|la|los|las|un|una|al|o|a|os|as|um|uma|com|con|mi|meu|minha|todo|tudo) \w"
    r"|j'ai (?:(?:bien|déjà|aussi|tout|enfin) )?(?!oubli|perdu|égar|cherch|essay|lu\b|vu\b|regard"
    r"|besoin|demand)\w{2,20}"
    r"(?:é|i|is|it|u|ert) (?:le|la|les|l'|un|une|du|des|au|aux|avec|ce|cette|mon|ma|mes|tout) ?\w"
    r"|(?!who\b|what\b|when\b|where\b|which\b|how\b)(?:the )?[^\W\d]{1,20}(?:'s| is|'re| are"
    r"|'m) (?:going to|gonna|about to) \w"
)
_FINDS_NOTHING = re.compile(r"[.;] |\b(?:no|nada|não|nao|rien|pas)\b")
_DAYS = "|".join(
    sorted({*WEEKDAYS, *MONTHS, "tomorrow", "morgen", "demain", "mañana", "amanhã"}, key=len, reverse=True)
)
_VALUE = re.compile(
    r"[^:?=\n]{2,50}? ?: (?:(?:now|jetzt|ahora|agora|maintenant|um|at|à|a las|às|ab) )?"
    r"\d{1,6}(?:[.:h]\d{2})? ?(?:h|uhr|am|pm|€|eur|euros?|%|\$)?(?: (?:now|instead|jetzt))?"
    r"|(?:the )?(?:new|neue[rs]?|nouveau|nouvel(?:le)?|nuev[oa]|nov[oa]) [^:?\n]{2,50}? ?: (?:(?:am"
    r"|le|el|a|on|na|no) )?"
    rf"(?:{_DAYS})s?"
)
# "Maybe Marta signs tomorrow", but not "maybe you know who signs".
_HEDGED = re.compile(
    r"(?:maybe|perhaps|vielleicht|eventuell|peut-être(?: que| qu')?|quizás?|tal vez|a lo mejor"
    r"|talvez) ?(?!an |the |is |are |a \w{1,20} (?:of|for|about|on)\b)"
    r"(?!.{0,60}\b(?:you|du|ihr|tu|vous|ustedes|usted|vosotros|voc[eê]s?|vc|know|weiß|sait|sabe"
    r"|any\w+|jemand|quelqu'un|alguien"
    r"|alguém|who|what|when|where|why|how|wer|wann|wo|wie|warum|ob|qui|quand|où|comment|quién|cuándo|dónde|cómo|quem"
    r"|quando|onde|como|can|could|kann|kannst|peux|puedes|pode)\b)\w{1,20} \w{2,20} \w"
)
_REPLACES = re.compile(
    r"(?:not|nicht|pas|no|não|nein nicht) (?!idea|sure|so|yet|mal|todavía|ainda)[^\W\d]{2,20}, "
    r"(?!(?:who|what|when|where|how|wer|wann|wo|wie|qui|où|quién|quem|but|sondern|sorry|thanks|danke"
    r"|merci|gracias)\b)"
    r"[^\W\d]{2,20}"
)
_OPEN_VALUE = re.compile(
    r"\b(?:error|fehler|erreur|code \d|ticket|order|invoice|rechnung|facture|factura|fatura|pedido)\b"
)
_WAITS = re.compile(
    r"(?:please |bitte )?(?:wait (?:up )?for (?:me|us)|wart(?:e|et)? (?:bitte )?auf (?:mich|uns)"
    r"|attend(?:s|ez)[- ](?:moi|nous)"
    r"|esp[eé]r(?:a|en)(?:me|nos)|(?:me|nos) espera|espera (?:por mim|a gente)|待って(?:て"
    r"|いて)?(?:ください|ね|下さい)?)"
    r"(?:,? [^?]{1,80})?"
)
_CLOSINGS = (
    r"(?:(?:i |hab(?:e)? (?:e?s )?|j'ai |ya |já )?(?:found it|got it|gefunden|habs|trouvé"
    r"|(?:lo )?encontr(?:é|ado)|achei|solved"
    r"|sorted|done|works(?: now)?|erledigt|listo|pronto|resuelto|resolvido|réglé)|never ?mind|nvm"
    r"|forget it|hat sich erledigt"
    r"|hat geklappt|passt(?: so)?|läuft|vergiss es|laisse tomber|c'est bon|ça (?:roule|marche)|nickel|impec(?:cable)?"
    r"|olv[ií]dalo|d[eé]jalo|ya (?:está|funciona)|deixa pra lá|esquece|deu certo(?: aqui)?|funcionou|cool|all good"
    r"|that did (?:it|the trick)|yep|ok(?:ay)?|danke|merci|gracias|obrigad[oa]|thanks|thx)"
)
_CLOSES = re.compile(rf"{_CLOSINGS}(?:[\s,.;!–-]{{1,3}}{_CLOSINGS}){{0,4}}")
_ASKING_CLAUSE = re.compile(
    r"\w \w{1,30} \w{1,30}\s?[,;.!–-]\s+(?:and |aber |und |but )?"
    r"(?:(?:is|are|was|were|do|does|did|can|could|should|shall|would|will|has|have|must)(?:n't)? "
    r"(?:i|we|you|he|she|it|they|that|this|there|these|those|anyone|anybody|someone|somebody)\b"
    r"|(?:ist|sind|war|hat|haben|kann|können|darf|dürfen|soll|sollen|gilt|gelten|geht|stimmt|passt"
    r"|reicht|weißt|gibt) "
    r"(?:das|es|die|der|er|wir|man|du|ihr|da|jemand|dort)(?: (?:noch|schon|auch|so|denn|eigentlich"
    r"|richtig|jetzt|noch nicht"
    r"|heute|wirklich|hier|nach|für|dann|was|wer|immer|überhaupt)\b|\Z)"
    r"|se puede |puedo |podemos |hay (?:algun|algún)|existe (?:algum|alguma)|dá pra |posso |podemos |pode-se )"
    r"[^,;.?!]{0,80}\Z"
)
_SUBORDINATE = re.compile(
    r"\b(?:wenn|falls|weil|als|nachdem|sobald|bevor|obwohl|damit|je|sonst|deshalb|daher|deswegen"
    r"|so|nor|neither|cuando"
    r"|si|quando|se)\b"
)
_TAG = re.compile(
    r"\w \w{1,30}(?:,? (?:oder|gell|hein|né|ne|eh)|, (?:right|no|non|verdad|não é|não|certo|or|wa|stimmts|correct))\Z"
)
# "They left an offer or just the bill", without the order of a question; news that are asked for.
_ALTERNATIVE = re.compile(
    r"\w \w{1,30},? (?:(?:or|oder) (?:just|only|still|already|nur|noch|schon|doch) |ou (?:juste"
    r"|seulement|encore|toujours"
    r"|déjà|só|ainda|já|apenas) |o (?:solo|sólo|todavía|aún|ya|sigue[ns]?) )\w"
    r"|[,.;–-] (?:any (?:word|news|updates?|idea|luck|progress)\b|gibt['’ ]?e?s (?:schon |da )?(?:was|etwas) neues"
    r"|(?:des|une) nouvelles?\b|alguna? (?:novedad|noticia)|se sabe algo|alguma (?:not[ií]cia|novidade))"
)
_NOT_ALTERNATIVE = re.compile(
    r"\b(?:whether|either|if|entweder|ob|wenn|soit|sea|seja|si|se|no matter|egal|may|might|can|kann|können|peut|puede"
    r"|pode|one|two|three|zwei|drei|deux|trois|dos|tres|dois|três|ein|\d+)\b"
)
_SEARCHED = re.compile(  # what was there before: "the handover list, it was here yesterday"
    r"[^?,]{3,60}, (?:(?:i swear|i thought|ich schwöre|te lo juro|juro que|pourtant|ayer|ontem|hier|gestern) )?"
    r"(?:it was (?:right )?here|estaba (?:aquí|ahí)|elle? était (?:là|ici)|il était (?:là|ici)"
    r"|(?:es )?tava aqui|estava aqui"
    r"|(?:die|der|das) (?:lag|war|hing|stand) doch\b)"
)
_HOW_IT_GOES = re.compile(
    r"(?:como (?:tá|está|estão|vai|vão|anda|ficou) (?:o|a|os|as|ess[ae]|isso|indo|sendo) [^,?]{3,60}"
    r"|ça (?:avance|se passe|donne quoi) [^,?]{3,60}"
    r"|hieß es nicht [^,?]{2,60})\Z"
)
_ALL_SAID = re.compile(
    r"(?:todo lo que|tudo (?:o )?que|tout ce qu(?:e|i|')|alles,? was|everything|all (?:that )?) ?"
    r"(?!.{0,120}\b(?:is|was|are|ist|war|es|está|era|é|tá|tava|est|était|works?|funciona|stimmt|passt)\b)"
    r"[^?]{0,60}\b(?:said|wrote|posted|sent|shared|gesagt|geschrieben|gepostet|geschickt|dit|écrit"
    r"|posté|envoyé|dijo|dijeron"
    r"|escribi[óo]|escribieron|mandó|publicó|disse|falou|falaram|escreveu|mandou|postou)\b"
)
_LOCKED_OUT = re.compile(
    r"(?:no luck (?:with|getting|finding|logging)\b|(?:still )?locked out of "
    r"|[^?]{0,80}\b(?:impossible (?:de (?:me |se )?(?:connecter|trouver|ouvrir|accéder|imprimer"
    r"|retrouver)|d'ouvrir|d'accéder)"
    r"|komm(?:e)? ich (?:nicht|nimmer) (?:mehr )?(?:ins?|auf|an|rein)\b|no (?:me deja|consigo"
    r"|logro) (?:entrar|abrir|acceder"
    r"|imprimir)|no entro (?:en|al?)\b|não (?:entro|tô conseguindo|estou conseguindo|me deixa)\b))"
)


def read_construction(text: str) -> Literal["question", "statement", "thanks", ""]:
    """What the grammar of a text without mentions and question marks shows; empty if it leaves that open."""
    plain = " ".join(text.casefold().replace("’", "'").split()).rstrip(" .!。！…:)(")
    if not 0 < len(plain) <= MAX_LENGTH:
        return ""
    if _CLOSES.fullmatch(plain):
        return "thanks"
    if _asks(plain):
        return "question"
    gives = _VALUE.fullmatch(plain) and not _OPEN_VALUE.search(plain)
    did = _DID.match(plain) and not _FINDS_NOTHING.search(plain)
    tells = did or gives or _SUBJECT_CLAUSE.match(plain) or _HEDGED.match(plain)
    tells = tells or _WAITS.fullmatch(plain) or _REPLACES.fullmatch(plain)
    return "statement" if tells else ""


def _asks(plain: str) -> bool:
    if any(pattern.match(plain) for pattern in (_ALL_SAID, _LOCKED_OUT, _SEARCHED, _HOW_IT_GOES)) or _TAG.search(plain):
        return True
    if (found := _ALTERNATIVE.search(plain)) and not _NOT_ALTERNATIVE.search(plain[: found.end()]):
        return True
    found = _ASKING_CLAUSE.search(plain)
    return found is not None and not _SUBORDINATE.search(plain[: found.start() + 1])
