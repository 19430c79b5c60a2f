"""The words by which a request for an overview is recognized, in the languages of the bot. Pure.

English, German, Spanish, French and Portuguese; `engine/text/overviews.py` turns Japanese ones into English.
"""

from __future__ import annotations

from engine.text.word_lists import word_set

SUMMARIZE = word_set(
    """
    summarise summarize summarised summarized summarising summarizing summary summaries tldr recap overview digest
    rundown catch miss missed gist highlights takeaways zusammenfassen zusammenfassung fasse fass zusammen überblick
    verpasst resume resumen resumir resúmeme perdí perdido résume résumé résumer résumez raté manqué resuma resumo
    resumão perdi
    """
)
KEY = word_set("key main principal principales principaux principais wichtigsten")  # "the key points"
POINTS = word_set("points punkte puntos pontos")
MISSED = word_set("miss missed verpasst perdí perdido raté manqué perdi")
# With these words, only a place or a time makes a question a request for a summary.
HAPPENED = word_set(
    """
    happened happening happen happens discussed discuss discussing discussions said say saying talked talk talking
    talks spoke speak speaking spoken chatted chat chatting debated mentioned wrote written news new latest going up
    done posted shared announced important changed passiert geschehen besprochen besprachen diskutiert geredet
    gesprochen reden sprachen gesagt geschrieben neues neu los gemacht wichtig wichtiges pasó pasado hablado
    hablamos habló hablaron hablar dijo dicho discutido discutió novedades nuevo importante hicimos hecho passé
    discuté parlé parle dit fait écrit nouveau neuf nouveautés falamos falou falaram falado falar discutimos disse
    disseram dito aconteceu acontecendo novidades novo fizemos feito
    """
)
# What makes such a word a report about the past, unless the word itself is one.
PAST = word_set("did was were been has have had got")
DID = word_set("do done get got make made work worked finish finished achieve achieved accomplish accomplished go went")
DECIDED = word_set(
    """
    decided decide decides deciding decision decisions resolved agreed agree resolutions conclude concluded
    conclusion conclusions settled entschieden entscheiden entscheidung entscheidungen beschlossen beschluss
    beschlüsse vereinbart decidió decidido decidieron decidimos decisión decisiones acordó acordado acordamos
    acuerdos décidé décidés décision décisions décidons convenu decidiu decidiram decisão decisões combinado
    combinamos acordos
    """
)
ASKED = word_set(
    """
    question questions frage fragen pregunta preguntas point points issue issues item items todo todos punkt punkte
    thema themen puntos temas cuestiones sujets pergunta perguntas questão questões pontos pontas
    """
)
OPEN = word_set(
    """
    open unanswered outstanding pending unresolved answered undecided unclear unsettled answer reply waiting offen
    offene offenen unbeantwortet unbeantwortete unbeantworteten ungeklärt ungeklärte ungeklärten unklar abierta
    abiertas abierto pendientes pendiente respondidas contestar responder ouverte ouvertes ouvert suspens réponse
    répondues respuesta respuestas aberto aberta abertas abertos pendente pendentes resposta respostas respondida
    """
)
FILL = word_set(
    """
    siguen sigue restent reste qu'a-t-on a-t-il continuam están tomamos
    tomaram s'est-il qu'est-ce-que pontos fizeram lo ce-que
    lately recently recent latest so far please pls plz short brief quick quickly main key important last since hey
    hi said written made asked posted everyone everybody people folks team group colleagues up speed date bring give
    show list tell fill update know should whole entire things stuff all everything anything something going went go
    come came yet still left want need like could would you tl dr most today's needs remain remains remaining
    currently now taken take took see get got waiting wait dieser diesen dieses diese diesem zuletzt kürzlich
    letzter zeit alles bitte kurz kurze kurzen mir uns seit gab gibt wurde wurden habe haben hat noch welche welcher
    welchen hier eine einen ich wir man ihr leute sind ist nicht bisher gerade jetzt über von worüber wovon geworden
    stehen steht ungeklärt nous vous yo he hemos este esta esto últimamente recientemente todo todos todas aquí
    favor quedan queda hay fue fueron desde se me nos qué cuáles cuál sobre ce cette cet récemment dernièrement tout
    toutes ici a-t-on quelles quels qu'est-ce sont j'ai avons on ont gens s'est depuis sans été encore quoi qu'on
    pas what's whats what've que quais qual é são foi foram em o os as um uma eu nós gente pessoal esse essa isso
    neste nesta aqui ultimamente recentemente tudo ficou ficaram falta faltam ainda há está estão não por do da no
    na de das dos sem mim dá faça mais equipe equipa welches equipo équipe importantes principais principales
    principaux wichtigsten
    """
)
THREAD = word_set(
    "thread conversation discussion exchange gespräch diskussion unterhaltung hilo conversación fil conversa discussão"
)
CHANNEL = word_set("channel room here kanal raum hier canal sala aquí salon ici aqui")
EVERYWHERE = word_set(
    "everywhere anywhere channels workspace server überall kanäle canales canaux partout canais todo-lugar"
)
STILL = word_set("still noch aún todavía encore ainda remains remain yet")
IS = word_set("is are were ist sind")  # start a question about one subject
NEWS = (
    {"what's", "new"},
    {"what", "is", "new"},
    {"whats", "new"},
    {"what's", "the", "latest"},
    {"was", "gibt", "es", "neues"},
    {"quoi", "de", "neuf"},
    {"qué", "hay", "de", "nuevo"},
    {"quais", "as", "novidades"},
)
POINTS_BACK = word_set(
    "that it he she they why how where when him her them das es ihn sie wann warum eso cela ça isso ela ele"
)
LATELY = word_set(
    """
    lately recently currently nowadays talking discussing zuletzt kürzlich neulich gerade zurzeit últimamente
    recientemente récemment dernièrement ultimamente recentemente
    """
)
EVERYTHING = word_set("what what's whats anything everything something")  # begin a question that may name no subject
# German words, beside which "hier" is "here" and not French "yesterday".
GERMAN = word_set("was welche welcher ist sind wurde wurden noch fasse fass zusammen gab gibt passiert offen hat haben")
