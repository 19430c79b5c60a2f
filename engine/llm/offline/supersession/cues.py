"""The words that say that something changed, in the six languages of the product. Pure data."""

from __future__ import annotations

import re

from engine.text.word_lists import word_set

# What is said now differs from what was said before.
CHANGE = re.compile(
    r"\b(?:now|instead|rather than|extended|prolong\w{1,4}|verlängert|prorrogad\w|moved?|moves|moving|"
    r"shift(?:ed|s)?|postponed?|"
    r"delayed|slip(?:s|ped)|brought forward|"
    r"push(?:ed|es|ing)|rescheduled|chang(?:ed|es|ing)|switch(?:ed|es|ing)?|replac(?:e|ed|es|ing)|"
    r"raised|raises|increas(?:ed|es)|lower(?:ed|s)|reduc(?:ed|es)|drop(?:s|ped) to|(?:goes|going|went) (?:up|down) to|"
    r"(?:go|going|went) with|settled on|from now on|as of|correction|update[ds]?|no longer|not any ?more|"
    r"any ?(?:more|longer)|unchanged|unverändert|inchangée?|"
    r"(?:takes?|took|taking|taken) over|hand(?:ed|s)? over|new|has become|became|becomes|in the end|"
    r"since (?:the|our|\w{1,20}['’]s) \w{1,20}|only (?=\d)|(?:put|placed|stored|hung)(?: \w{1,20}){1,4} (?:in|into|on|"
    r"to|at|under|behind)|(?:resolved|motion carried)(?=:)|re(?:wrote|written|built|did|done|worked|designed)|"
    r"(?:hand(?:ed|s)?|gave|pass(?:ed|es)) (?:\w{1,20} ){1,5}to|since (?:tonight|noon|midnight|\d)|"
    r"since (?:yesterday|today|this|last|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|"
    r"june|july|"
    r"august|september|october|november|december)|from \w{3,12} on(?:wards?)?|effective|change of plan|"
    r"(?:re-?)?(?:elected|appointed)|renam(?:e|ed|es|ing)|migration|retired|resigned|stepped down|"
    r"upgrad(?:e|ed|es|ing)|bumped|relocat\w{1,5}|(?:can't|cannot|can not|won't) (?:come|make|do)|"
    r"migrat(?:ed|es|ing)|not but|deci(?:ded|sion)(?=(?: \w{2,12})?:)|"
    r"after all|(?:rest|everything else|all else) (?:stays|remains|is unchanged)|since (?:\w{1,12} )?night)\b"
    r"|\A(?:so|therefore|deshalb|daher|donc|por eso|por isso|portanto) (?=\w)"
    r"|\b(?:jetzt|nun|nunmehr|stattdessen|statt|anstatt|anstelle|verschoben|verlegt|verschieb\w{1,4}|vorgezogen|"
    r"geändert|ändert|wechseln|wechselt|gewechselt|umgestellt|umgezogen|zieht um|ersetz\w{0,3}|neu(?:er|e|es|en|em)?|"
    r"ab sofort|ab (?:heute|morgen|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|"
    r"dezember)|künftig|nicht mehr|sondern|korrektur|übernimmt|übernommen|erhöht|gesenkt|steigt|sinkt|inzwischen|"
    r"mittlerweile|seit (?:gestern|heute|montag|letzte\w?)|doch erst|doch schon|aktualisiert|gewählt|ernannt|"
    r"umbenannt|migration|zurückgetreten|im ruhestand)\b"
    r"|\b(?:désormais|maintenant|dorénavant|plutôt|au lieu|à la place|report\w{1,4}|déplac\w{1,4}|décal\w{1,4}|"
    r"avancée?|"
    r"chang(?:e|é|ée|és)|passe(?:nt|ra|z)?|passons|passé\w?|remplac\w{1,4}|nouve(?:lle|au|aux|l)|à partir de|"
    r"finalement|"
    r"rectificatif|n(?:e |')\w{1,20} plus|augment\w{1,4}|baiss\w{1,4}|reprend|repris|depuis hier|migr(?:é|ons)|"
    r"(?:em|dé)ménag\w{1,4}|transfér\w{1,4}|élue?s?|nommée?s?|rebaptisée?|renommée?|démissionn\w{1,3})\b"
    r"|\b(?:ahora|en (?:vez|lugar) de|aplaz\w{1,4}|pospuest\w|pospone\w?|movid\w|muev\w{1,3}|traslad\w{1,4}|"
    r"adelant\w{1,4}|"
    r"cambi\w{1,5}|pasa(?:mos|n|rá)?|pasó|reemplaz\w{1,4}|sustituy\w{1,3}|sustituid\w|nuev[oa]s?|a partir de|ya no|"
    r"al final|"
    r"corrección|mud(?:ó|ado|aron)|transfer\w{1,4}|sub(?:e|ió|en)|baj(?:a|ó|an)|desde (?:ayer|hoy)|elegid[oa]|"
    r"nombrad[oa]|renombrad[oa]|dimiti\w{1,4}|jubil\w{1,3})\b"
    r"|\b(?:agora|em vez|no lugar d\w{1,2}|adiad\w|remarcad\w|transferid\w|mud(?:a|ou|amos|ada|ado|ança)|"
    r"pass(?:a|ou|amos|am)|substitu\w{1,5}|nov[oa]s?|já não|não \w{1,20} mais|afinal|correção|subiu|sobe|baixou|"
    r"desde ontem|eleit[oa]|nomead[oa]|renomead[oa]|aposent\w{1,3}|antecipad\w|trocamos|trocou)\b"
    r"|変更|延長|延期|移動|移転|になりました|に変わ|今は|今後|これから|ではなく|じゃなく|代わり|新しい|訂正|前倒し|切り替え|引き継|"
    r"値上げ|値下げ|選ばれ|就任|改名|移行|更新|になった",
    re.IGNORECASE,
)
CANCELED = re.compile(
    r"\b(?:cancel(?:l?ed|s)?|called off|won't (?:happen|take place)|will not (?:happen|take place)|not happening|"
    r"scrapped|"
    r"abgesagt|fällt aus|entfällt|gestrichen|findet nicht statt|annulée?s?|supprimée?s?|n'aura pas lieu|cancelad[oa]s?|"
    r"suspendid[oa]s?|anulad[oa]s?|suspens[oa]s?|não vai acontecer)\b|中止|キャンセル|取り消|取りやめ",
    re.IGNORECASE,
)
# Why somebody or something that was chosen is not what it will be.
_UNFIT = (
    r"(?:(?:is|are|was|were|got|gets|fell) (?:(?:already |fully |all )?(?:full|booked(?: out| up)?|sold out)|"
    r"too \w{2,20}|ill|sick|closed|unavailable|through)\b|"
    r"(?:had to|must) (?:drop out|cancel|step back|decline)\b|(?:dropped out|quit)\b|"
    r"(?:ist|war|wird|sind|waren) (?:(?:leider |schon )?(?:voll|ausgebucht|krank|geschlossen|verhindert)|"
    r"zu \w{3,20})\b|"
    r"(?:est|était|sont|étaient) (?:complets?|malades?|fermée?s?|trop \w{3,20})\b|"
    r"(?:está|estaba|es|era|estão|estava|é) (?:llen[oa]|complet[oa]|enferm[oa]|cerrad[oa]|lotad[oa]|chei[oa]|doente|"
    r"fechad[oa]|demasiado \w{3,20}|muito \w{3,20})\b)"
)
# A message that begins so contradicts the one before it.
CONTRADICTION = re.compile(
    r"\W{0,3}(?:(?:wait|oh|h+m+|ah|ach|oops|sorry|moment|warte|espera|attends|peraí|ih|あ)\W{1,3})?"
    r"(?:(?:\w{2,8},? )?(?:i|we) meant\b|make (?:that|it)\b|"
    r"(?:no|nope|nah|actually|correction|wrong|not (?:quite|true|right|correct)|that(?:'s| is) (?:wrong|"
    r"outdated)|"
    rf"(?:sorry|oops|leider|hélas|lo siento|desculpa)(?=\W{{1,3}}(?:\w{{1,20}} ){{1,5}}{_UNFIT})|"
    r"not any ?more|nicht mehr|ya no|já não|plus maintenant|nein|doch|falsch|stimmt nicht|korrektur|non|faux|en fait|"
    r"na verdade|não|errado|"
    r"(?:sorry|oops|pardon|entschuldigung|perdón|desculpa)(?=\W{1,3}(?:\w{1,12} ){0,3}[\d$€£]))\b(?! (?:one|idea|"
    r"problem|worries|"
    r"need|longer|more|change|questions?|news|rush)\b)|いいえ|いや|違い?ます|訂正)",
    re.IGNORECASE,
)
# A message that gives what the one before it told of another value: "they wrote again, it will be 9 June".
# What is so now ("it's 8:05, hurry"), for each ("it will be 12 euros each") or in all ("that makes 36") is none.
CORRECTED_BY = re.compile(
    r"\b(?:it(?:['’]ll| will| is going to|['’]s going to) be|it becomes|"
    r"(?:cut|set|put|rais|lower|chang|mov|br(?:ing|ought)|short|reduc)\w{0,4} (?:it|that|them) (?:back |down |up )?to|"
    r"es (?:wird|werden)|ce sera|serán?|vai ser|vão ser|serão)"
    r"(?: doch)?(?: (?:now|on|at|about|only|the|der|am|um|nur|le|à|el|a las|dia|às|so))? "
    r"(?=\d\S{0,12}(?: (?!(?:each|per|pro|par|por|chacun|jede|cada|para|for|für|pour|total|altogether|insgesamt|until"
    r"|before)\b)[\w.:]{1,12}){0,2}(?:[,;!)]|\.?\s?\Z|\.\s))|\dに(?:なります|変わります)",
    re.IGNORECASE,
)
MAX_CORRECTION = 80  # characters of such a message
# Says that something does not hold: of two statements on one thing, the later one replaces one without it.
NEGATION = re.compile(
    r"\b(?:not|no longer|never|any ?(?:more|longer)|stopped|ceased|"
    r"(?:does|do|is|are|was|were|has|have|will|can|would)n['’]t|"
    r"forbidden|prohibited|suspended|discontinued|paused|on hold|eingestellt|ausgesetzt|suspendue?s?|"
    r"verboten|interdit\w?|prohibid[oa]s?|proibid[oa]s?|"
    r"won['’]t|can['’]t|cannot|nicht|nie|keine?\w?|ne|n['’]\w{1,20}|no|nunca|jamás|não|jamais)\b|ません|ない",
    re.IGNORECASE,
)
# Names a former value: the words that follow, or those before it in Japanese.
FORMER_AFTER = re.compile(
    r"\b(?:instead of|rather than|in place of|no longer(?: on| in| with| at| uses?| using)?|replac(?:e|es|ing)|"
    r"(?:takes?|took|taking|taken) over (?:\w{1,20} ){0,4}from|(?:switch|mov|migrat|upgrad|"
    r"chang)\w{0,4} (?:\w{1,20} ){0,3}from|"
    r"(?:can't|cannot|won't|can not) (?:\w{1,20} ){0,2}on|not any ?more|not|statt|anstatt|anstelle von|löst|"
    r"nicht mehr(?: in| bei| mit)?|sondern nicht|nicht|au lieu d[eu]s?|au lieu d'|"
    r"à la place d[eu]s?|remplace|plus|et non|pas|en (?:vez|lugar) del?|ya no(?: usamos| está en)?|sustituye a|no|"
    r"em vez d[eoa]s?|no lugar d[eoa]s?|já não(?: usamos)?|substitui|e não)\s{1,2}(?=\S)",
    re.IGNORECASE,
)
FORMER_BEFORE = re.compile(
    r"(?:ではなく|じゃなく|の代わりに|をやめ)|\b(?:nicht mehr|plus maintenant|"
    r"(?:is|was|has been|will be|gets) replaced|wird (?:durch|von)|any ?more|"
    r"est remplacée?|es reemplazad\w|é substituíd\w|hand(?:s|ed) (?:\w{1,20} ){0,4}over)\b"
    rf"|{_UNFIT}|が満室|が高すぎ|が暑すぎ",
    re.IGNORECASE,
)
# Something further, which replaces nothing.
ADDITION = re.compile(
    r"\b(?:also|too|as well|additionally|in addition|besides|another|second|auch|zusätzlich|außerdem|noch ein\w{0,2}|"
    r"weitere\w?|zweite\w?|aussi|également|en plus|un autre|une autre|también|además|otr[oa]|segund[oa]|também|além|"
    r"outr[oa])\b|追加|もう一つ|もう1つ",
    re.IGNORECASE,
)
# A proposal or a condition, which is no fact.
TENTATIVE = re.compile(
    r"\b(?:maybe|perhaps|might|could|should|would|what if|if|whether|propos\w{1,4}|suggest\w{0,3}|thinking|"
    r"consider\w{0,3}|unless|"
    r"let me know|wonder\w{0,3}|i (?:think|guess|hope|wish)|probably|possibly|rumou?rs?|vielleicht|könnte\w{0,2}|"
    r"sollten? wir|"
    r"falls|ob|wenn|vorschlag\w{0,2}|schlage|wäre\w?|möglich\w{0,5}|peut-être|pourr\w{2,5}|devrai\w{1,3}|si|"
    r"propos\w{1,3}|quizás?|tal vez|"
    r"podría\w{0,3}|propong\w|sugier\w|talvez|poderia\w?|poder[íi]amos|sugir\w)\b|かも|たぶん|もし|提案|どうでしょう|たら",
    re.IGNORECASE,
)
# For once: it replaces nothing that lasts or recurs.
TEMPORARY = re.compile(
    r"\b(?:this (?:week|month|time|once|monday|tuesday|wednesday|thursday|friday)|(?:just|only) (?:this|"
    r"(?<!as of )(?<!from )(?<!since )today|once|"
    r"for)|(?<!as of )(?<!from )(?<!since )today|"
    r"tomorrow|(?<!since )tonight|for once|exceptionally|next (?:week|time)|diese[nr]? (?:woche|montag|dienstag|"
    r"mittwoch|"
    r"donnerstag|freitag)|"
    r"diesmal|ausnahmsweise|(?<!ab )(?<!seit )heute|morgen|nur (?:heute|diese\w?)|cette (?:semaine|fois)|"
    r"(?<!d')aujourd'hui|demain|"
    r"exceptionnellement|"
    r"esta (?:semana|vez)|este (?:lunes|martes|miércoles|jueves|viernes)|(?<!de )(?<!desde )hoy|excepcionalmente|"
    r"(?<!de )(?<!desde )hoje|amanhã|desta vez|"
    r"esta (?:segunda|terça|quarta|quinta|sexta))\b|今週|今回|今日|明日|本日",
    re.IGNORECASE,
)
RECURRING = re.compile(
    r"\b(?:every|each|daily|weekly|monthly|always|usually|(?:mon|tues|wednes|thurs|fri|satur|sun)days|jede[nmrs]?|"
    r"immer|täglich|"
    r"wöchentlich|(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs|chaque|tous les|toutes les|toujours|cada|"
    r"todos los|"
    r"todas las|siempre|tod[oa]s? (?:as|os)|toda|sempre)\b|毎[日週月朝回]",
    re.IGNORECASE,
)
PAST = re.compile(
    r"\b(?:was|were|had|did|lasted|took|ago|last (?:week|month|year|time|night|sprint)|yesterday|used to|waren?|"
    r"hatten?|dauerte|"
    r"wurden?|gestern|letzte\w?|vorige\w?|étai\w{1,3}|avai\w{1,3}|a (?:duré|eu|été|coûté)|hier|derni(?:er|ère)|"
    r"fue(?:ron)?|era|estaba|"
    r"duró|costó|ayer|pasad[oa]|foi|foram|durou|custou|ontem|passad[oa])\b|昨日|先週|でした|ました",
    re.IGNORECASE,
)
FIRST_PERSON = re.compile(
    r"\b(?:i|i'm|i'll|i've|my|mine|me|ich|mein\w{0,2}|mir|mich|je|j'\w{1,20}|mon|ma|mes|yo|mis?|estoy|tengo|eu|meus?|"
    r"minhas?|estou|tenho)\b|私|僕",
    re.IGNORECASE,
)
# Acts and offices, each of which is another role: who prints something takes not the place of who designs it.
_ACTS = (
    r"repairs?|repaired|fix(?:es|ed)|prints?|printed|designs?|designed|paint(?:s|ed)|cooks?|coach(?:es|ed)?|guides?|"
    r"feeds?|tunes?|tuned|cleans?|cleaned|checks?|checked|translates?|translated|directs?|directed|represents?|trains?|"
    r"treasurer|secretary|president|director|captain|mayor|principal|editor|mentor|officer|sponsors?|sponsored|"
    r"insures?|insured|financ(?:es|ed)"
)
ACT = re.compile(rf"\b(?:{_ACTS})\b", re.IGNORECASE)
# Roles that one person or company has at a time, and what is used for something: a new one replaces the former one.
ROLE = re.compile(
    r"\b(?:own(?:s|er|ed)?|responsible|in charge|leads?|led|lead(?:ing|er)|heads?|maintain(?:s|er|ed)?|manag(?:es|er)|"
    r"handles?|"
    r"looks? after|takes? care|builds?|built|organi[sz](?:es|er|ed)|moderat(?:es|or)|presents?|presenter|hosts?|"
    r"draws?|delivers?|job|task|turn|duty|"
    r"suppl(?:y|ies|ier)|caters?|caterer|contact|on[- ]call|drives?|deput(?:y|ises)|chairs?|teaches|trainer|"
    rf"{_ACTS}|"
    r"zuständig|verantwortlich\w{0,2}|leite[tn]|leitung|betreut|kümmert|baut|organisiert|moderiert|liefert|lieferant|"
    r"ansprechpartner(?:in)?|übernimmt|macht|responsables?|gère|s'occupe|occupe|dirige|anime|construit|livre|"
    r"fournisseur|organise|"
    r"encarga|encargad[oa]|gestiona|lleva|construye|proveedor(?:a)?|organiza|responsável|responsáveis|cuida|gerencia|"
    r"lidera|"
    r"fornecedor(?:a)?|constrói|coordena|coordina|coordonne|koordiniert)\b|担当|責任者|窓口|幹事",
    re.IGNORECASE,
)
# Verbs for a role that stand right after what it is for, where nouns are no compounds with them.
VERBS = re.compile(
    r"leite[tn]|betreut|kümmert|baut|organisiert|moderiert|liefert|übernimmt|macht|koordiniert|gère|dirige|anime|"
    r"construit|"
    r"livre|organise|encarga|gestiona|lleva|construye|organiza|cuida|gerencia|lidera|constrói|coordena|coordina|"
    r"coordonne"
)
# Who takes or gets something holds it from then on, whatever the word for the role was.
TAKEOVER = re.compile(
    r"\b(?:(?:job|task|turn|duty|responsibility|aufgabe|tâche|tarea|tarefa)|(?:takes?|took|taking|taken) over|"
    r"hand(?:ed|s)? (?:over|\w{1,20} ){1,5}to|(?:elected|appointed)|inherit(?:s|ed)|"
    r"übernimmt|übernommen|gewählt|ernannt|reprend|repris|élue?|nommée?|elegid[oa]|nombrad[oa]|asumió|asume|eleit[oa]|"
    r"nomead[oa]|assumiu|assume)\b|引き継|就任",
    re.IGNORECASE,
)
# Opposite states, of which a thing has one at a time.
SCALES = tuple(
    tuple(re.compile(rf"\b(?:{side})\b|{unspaced}", re.IGNORECASE) for side, unspaced in scale)
    for scale in (
        (
            (
                (
                    r"open(?! (?:plan|source|to|question|issue))|re-?opened|offen|geöffnet|ouverte?s?|abiert[oa]s?|"
                    r"abert[oa]s?"
                ),
                "開いて|営業中",
            ),
            (r"closed|shut|geschlossen|gesperrt|fermée?s?|cerrad[oa]s?|fechad[oa]s?", "閉ま|閉鎖|休業"),
        ),
        (
            (
                (
                    r"works|working|fixed|repaired|running|up again|back up|"
                    r"funktioniert|läuft|repariert|fonctionne|marche|"
                    r"réparée?s?|funciona|arreglad[oa]s?|reparad[oa]s?|consertad[oa]s?"
                ),
                "直[りっ]|動いて|復旧",
            ),
            (
                (
                    r"broken|(?:is|are) down|out of order|defective|kaputt|defekt|außer betrieb|(?:en|hors) panne|"
                    r"hors service|cassée?s?|"
                    r"averiad[oa]s?|estropead[oa]s?|quebrad[oa]s?|avariad[oa]s?"
                ),
                "壊れ|故障|停止",
            ),
        ),
        (
            (r"available|in stock|vorrätig|verfügbar|disponibles?|disponíve(?:l|is)|en stock|em estoque", "在庫あり"),
            (
                (
                    r"unavailable|sold out|out of stock|ausverkauft|vergriffen|épuisée?s?|en rupture|agotad[oa]s?|"
                    r"esgotad[oa]s?|indisponíve(?:l|is)"
                ),
                "売り切れ|在庫切れ",
            ),
        ),
        (
            (r"paid|bezahlt|payée?s?|pagad[oa]s?|pag[oa]s?", "支払済"),
            (r"unpaid|outstanding|overdue|offen|unbezahlt|impayée?s?|pendientes?|pendentes?", "未払い"),
        ),
    )
)
CHOICE = re.compile(
    r"\b(?:(?:go|going|went) with|goes to|settled on|cho(?:o?se|sen)|picked|decided (?:on|for)|deci(?:ded|sion)(?=:)|"
    r"nehmen|prenons|optamos|escolhemos|elegimos)\b",
    re.IGNORECASE,
)
# The beginning and the end of something are different facts.
BEGINNING = re.compile(
    r"\b(?:open(?:s|ed)?|starts?|begins?|arriv\w{1,3}|beginnt|startet|öffnet|commence|ouvre|empieza|comienza|abre|"
    r"começa)\b",
    re.IGNORECASE,
)
END = re.compile(
    r"\b(?:clos(?:e|es|ed)|ends?|finish(?:es)?|stops?|leaves?|endet|schließt|termine|ferme|termina|acaba|cierra|"
    r"fecha)\b",
    re.IGNORECASE,
)
USE = re.compile(
    r"\b(?:us(?:e|es|ed|ing)|work(?:s|ing)? with|track\w{0,3}|host(?:ed)?|go(?:ing)? with|store[ds]?|ke(?:pt|ep)|"
    r"lives? (?:in|on|at|with)|"
    r"runs? on|nutzen|nutzt|benutzen|benutzt|verwende[nt]|verwendet|läuft|laufen|liegt|liegen|utilis\w{1,4}|usamos|"
    r"usa[nm]?|utiliza\w{0,3}|tourne\w{0,2}|"
    r"hébergé\w{0,2}|está\w? (?:en|em|no|na)|fica\w?|roda\w?|corre\w?|via|über|through|switch\w{0,3}|"
    r"migrat\w{1,3})\b|使[いうっわ]|利用",
    re.IGNORECASE,
)
PLACE = re.compile(
    r"\b(?:in|at|on|sur|im|am|bei|beim|auf|à|au|aux|chez|dans|salle|en|el|em|no|na|raum|room|sala)\s(?:the |der |dem |"
    r"la |"
    r"le |el |o |a )?\Z|\b(?:to|into|para|pra|nach|zum|zur|ins?|vers|al|a la) (?:the |den |die |das |a |o |la |el )?\Z",
    re.IGNORECASE,
)
# Before the name of a person, company, place or thing at the end of a clause.
SOURCE = re.compile(
    r"\b(?:from|at|by|with|in|to|von|vom|bei|mit|in|durch|nach|chez|par|avec|à|de|en|con|por|com|em|na|no|pela|pelo)"
    r"\s(?:the |der |dem |la |le |el |o |a )?\Z",
    re.IGNORECASE,
)
# "Since Anna's leave Ben does it": Anna did it before.
SINCE_SOMEBODY = re.compile(r"\bsince (\w{2,20})['’]s\b", re.IGNORECASE)
# Who says what they changed says nothing about themselves, if a change follows.
BY_SPEAKER = re.compile(r"\b(?:i|i['’]ve|i have|j['’]ai|he|eu|ich) ", re.IGNORECASE)
# Says how many there are.
COUNT = re.compile(
    r"\b(?:we|there) (?:are|have|own)\b|\b(?:wir (?:sind|haben)|es gibt|nous (?:sommes|avons)|il y a|somos|tenemos|hay|"
    r"temos|há)\b|います|あります",
    re.IGNORECASE,
)
# At the beginning of a clause, tells its subject from a counterpart.
COUNTERPART = re.compile(
    r"(?:the |our |my |an? )?(front|back|rear|left|right|upper|lower|first|second|third|inner|outer|top|bottom|"
    r"left-hand|right-hand|side|main|last|next|other|another) [^\W\d_]",
    re.IGNORECASE,
)
# Says that a state holds from then on.
RETURN = re.compile(
    r"\b(?:again|since|wieder|seit|depuis|de nouveau|à nouveau|otra vez|de nuevo|desde|de novo|outra vez|ya|já)\b|また|"
    r"再び",
    re.IGNORECASE,
)
COPULA = re.compile(
    r"\b(?:is|are|will be|moves?|moved|takes place|meets?|ist|findet|sind|wird|est|sont|sera|aura lieu|es|son|será|"
    r"está|é|são|fica|will)\b|[はが]",
    re.IGNORECASE,
)

# Verbs and nouns for one event: the release of something is when it ships.
RELEASES = word_set("release ship launch publish rollout deploy deployment")
# Say when a state holds, not what is in it.
RETURN_WORDS = word_set(
    "wieder heute hoy hoje aujourd'hui nouveau nuevo novo vez nuevamente novamente encore autre otra"
)
# Words between two words of one subject: "release of the app".
LINK_WORDS = word_set(
    """
    of for in at from the our a an on to der die das den dem des von vom für im beim zur zum unsere unser unserer
    unserem
    nach bei aus de du des d la le les l pour à au aux notre del el los las para por nuestro nuestra do da dos das no
    na o os um uma nosso
    nossa の 's s
    """
)
PREPOSITIONS = word_set(
    """
    of for to nach bei aus von vom für beim zum zur de du des d del do da dos das para pour の in at im em en à au no na
    """
)
# Function words that the other lists lack, and words that say what happens with a subject, not which subject it is.
LIGHT_WORDS = word_set(
    """
    de fica ficam encontra trouve trouvent queda quedan steht stehen befindet
    o os as um uma em no na nos nas do da dos das pelo pela ao aos é são está estão foi será vai vamos seu sua seus
    suas nosso
    nossa nossos nossas que com por para mais isso este esta esse essa ele ela eles elas mas se já al del los las lo su
    sus
    nuestro nuestra nuestros nuestras este esta estos estas ese esa pero se ha han hay era será van vamos muy porque
    como
    notre nos votre vos ce cet cette ces il elle ils elles nous vous se sera seront mais car donc au aux leur leurs ne
    pas a
    ont été sich uns unser unsere unserer unserem unseren wir ihr sie es er wird werden wurde sein hat haben dann also
    hier
    beim vom sowie bei aus nach um bis ab pro per kein keine keinen dieser diese dieses dass aber denn da
    need want use make like give keep know think look show say tell ask let find try help seem put bring leave reach
    people thing kind way part lot bit case fact information detail time people person
    preis preise tarif kosten prix tarif coût precio tarifa costo preço tarifa custo fee rate 料金 価格 値段
    happen take place start begin plan schedule meet held hold due set fix go get come open run occur fall remain stay
    everyone everybody all folks team hi hello please note fyi heads reminder quick thanks sorry guys ok okay btw hey
    yes
    erst schon noch bereits nur eher leider sadly unfortunately good bad news actually only but
    back out forward up down
    finally currently officially still just really again always morning afternoon evening o'clock sharp
    stopped ceased moment tentatively until suspended discontinued paused
    allowed permitted possible forbidden prohibited erlaubt möglich verboten autorisé permis interdit permitido
    permitida
    prohibido proibido address adresse dirección endereço number nummer numéro número
    ms mr mrs dr prof herr frau señor señora madame monsieur mme sr sra dona
    statt findet stattfinden startet beginnt liegt gilt kostet kosten hallo leute bitte achtung info hinweis uhr
    aura lieu commence début prévu prévue fixé fixée bonjour salut équipe tous attention coûte vaut
    lugar empieza comienza tiene hola equipo todos aviso atención cuesta vale fijada fijado prevista previsto programada
    acontece começa tem olá pessoal gente aviso atenção custa marcada marcado prevista previsto
    am pm cost costs price we'll we're it'll it's that's there's there here day date time week year
    は が を に で と も 日 月 時 年 回 円 分 予定 開始 場所 時間 決定 皆 皆様 連絡 知
    """
)
