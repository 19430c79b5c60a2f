"""Word lists of the rules for messages without a mention, in lower case and without apostrophes."""

from __future__ import annotations

import re


def parse_words(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


def parse_phrases(text: str) -> tuple[tuple[str, ...], ...]:
    """The phrases of a comma-separated list, each as its words."""
    return tuple(tuple(phrase.split()) for phrase in text.split(",") if phrase.strip())


# Small talk: at least one interjection, and otherwise only fillers.
INTERJECTIONS = parse_words(
    """
    thanks thank thankyou thx tx ty tysm cheers ta ok okay okey okie k kk kay hm hmm hmmm mhm uh um ah aha oh ooh oops
    well great good cool nice perfect excellent awesome brilliant super wonderful lovely sweet neat fine sure right
    yes yeah yep yup yay no nope nah alright understood noted roger gotcha got wow whoa lol lmao rofl haha hahaha hehe
    heh hah xd hi hello hey yo hiya morning evening bye ciao sorry please congrats congratulations hurray hooray amen
    ha damn gosh omg wtf yikes ouch ugh phew nevermind exactly true indeed agreed same ditto interesting funny amazing
    fantastic love bravo welcome anyway actually btw huh danke dank dankeschön merci gracias mil muchas grazie obrigado
    obrigada bedankt tack genial klasse prima toll passt genau gut ja nein nee doch jo jup jaja tja naja ach achso aja
    alles klar stimmt richtig hallo moin servus hola bitte vale perfecto claro bueno bien buena buenas sí jajaja
    nickel listo lista dale estupendo entendido salut bonjour coucou parfait accord daccord oui non ouais bon bro bruh
    dude fr
    voilà bref
    formidable top bene perfetto grande mooi génial ptdr mdr valeu beleza blz ótimo legal maravilha oi olá opa tchau
    bonsoir adiós bom boa impeccable appreciated noté geschehen perfeito mistake bad worries feierabend
    souci problem problema pasa helped hilfreich geholfen spitze nacht noches oye ei ey eh escuta écoute
    """
)
THANKS = parse_words("thanks thank thx ty tysm danke merci gracias obrigado obrigada valeu grazie")
YES_NO = parse_words("yes yeah yep yup no nope nah ja nein nee doch jo jup jaja nö sí si oui non ouais sim não")
NO_HARM = parse_words("problem worries problema problemo souci pasa mind")  # "no worries", "não tem problema"
EXACTLY = parse_words("exactly precisely just genau justo exactamente exactement exatamente era")
FILLERS = parse_words(
    """
    a lot so much very many you u for the that this it its is was to know sense makes really indeed all everyone both
    again helps helped help helpful me just what i needed wanted point idea stuff one job work bot answer info sir mate
    man guys folks then now too enough youre in on sounds looks by with and but though dir euch ihnen vielen herzlichen
    sehr das hat hilft mir schön für die und ihr te lo la por todo de nada muy beaucoup bonne ça marche va à tous pour
    alors très mille tante ajudou ajudar ayudó muito ajuda aidé ma tudo mesmo mucho muchísimas muchísimo muitíssimo
    vielmals infiniment nacht night noite noches nuit
    gern enjoy cest cétait eso es fue schönes schönen buen feliz kein keine pas sem works
    funktioniert funciona marche quick journée soirée dia día días tag abend guten gute bom boa bon buenos tarde tardes
    noch
    """
)
PRAISED = parse_words("bien bueno buena bom bon genial legal bonito")
FAULTS = parse_words("mistake bad")
# A greeting: one of GREETINGS, or a wish for a time of day.
GREETINGS = parse_words(
    "hi hello hey hiya yo hallo moin servus hola salut bonjour bonsoir coucou oi olá ola opa ciao buenas"
)
# The words of greetings and thanks that one language alone has.
CALLS_BY_LANGUAGE = {
    "de": parse_words("hallo moin servus guten tag danke dank dankeschön vielen genial klasse prima"),
    "es": parse_words("hola buenos buenas gracias vale perfecto genial estupendo muchas"),
    "fr": parse_words("salut bonjour bonsoir coucou merci beaucoup parfait"),
    "pt": parse_words("oi olá bom boa obrigado obrigada valeu perfeito ótimo"),
}
WISHES = parse_words("good guten gute buenos buenas bom boa")
TIMES_OF_DAY = parse_words("morning afternoon evening morgen tag abend días dias tardes noches dia tarde noite")
GREETED = parse_words(
    """
    there bot all again everyone team folks guys people zusammen allerseits leute todos todas a tous toutes à tout le
    monde équipe du pessoal gente equipo equipe chicos threadlore
    """
)
# A wish on parting, which needs no answer: "have a nice weekend", "bonne soirée".
GOOD = parse_words(
    "enjoy good nice great lovely happy schöne schönen schönes guten gute bonne bon buen buena feliz bom boa ótimo"
)
PARTS_OF_TIME = parse_words(
    """
    day evening night week weekend week-end holiday holidays sunday friday tag abend nacht woche wochenende feierabend
    urlaub sonntag freitag fim soirée journée nuit semaine vacances dimanche fin semana día noche vacaciones domingo
    viernes dia noite férias sexta
    """
)
_WISHING = parse_words(
    """
    have enjoy a an the your and you all to noch und ein einen à tous un una de todos e ihr ihnen dir euch
    """
)
PARTING = GOOD | PARTS_OF_TIME | _WISHING | GREETED
# What praises the bot: "you are the best".
YOU_ARE = parse_phrases("you are, youre, ur, u are, u r, du bist, tes, tu es, eres, você é, vc é, tu és, es-tu, sei")
PRAISE = parse_words(
    """
    rock útil úteis utile utiles nützlich parfaite perfect perfekt claro clear best beste bester great awesome amazing
    brilliant smart helpful useful quick fast genius lifesaver hero star legend champ toll klasse spitze super schlau
    schnell schatz held meilleur meilleure génial géniale super fort top mejor genial increíble crack máquina campeón
    lista listo demais incrível melhor fera ótimo campeão ein eine der die das the a an so really le la trop un une el
    muy un o muito uma einfach
    """
)
LAUGHTER = parse_words(
    """
    lol lmao rofl haha hehe hihi xd joy sweat_smile laughing smirk stuck_out_tongue rolling_on_the_floor_laughing
    upside_down_face wink 😂 🤣 😅 😆 😜 😝 😛 🙃 😏 😉 🤪 😹
    """
)
# What announces a question, and is no part of it.
OPENERS = parse_phrases(
    """
    one more thing, one last thing, one more question, another question, another thing, quick question, quick q,
    next question, a question, question, just to be sure, i forgot, i dont understand, in short, by the way, so, then,
    also, now, noch was, noch eine frage, kurze frage, una pregunta, otra pregunta, petite question, une question,
    donc, alors, entonces, también, dann, auch
    """
)
# What puts a question as a statement if a question word follows.
PREFACES = parse_phrases(
    """
    i was wondering, i am wondering, im wondering, wondering, just wondering, i wonder, im curious, i am curious,
    i wanted to know, i want to know, i need to know, i also need to know, id like to know, i would like to know,
    what i wanted to know, what i want to know, what id like to know, what i need to know, my question is,
    the other question is, i wanted to ask, does anyone know, does anybody know, do you know, do you happen to know,
    do we know, can you check, any idea, ich wollte wissen, ich wollte fragen, ich möchte wissen, mich interessiert,
    weißt du, ich frage mich, meine frage ist, je voulais savoir, je voudrais savoir, jaimerais savoir, je me demande,
    quisiera saber, quería saber, me gustaría saber, me pregunto, sabes
    """
)
WHETHER = parse_words("if whether ob si is")
# Requests and questions that a bot can be asked.
REQUESTS = parse_phrases(
    """
    tell me, tell us, show me, show us, list, explain, summarise, summarize, sum up, sum it up, describe,
    remind me who, remind me what, remind me when, remind me where, remind me how, give me the, give us the,
    give me a list, give me a summary, give me a short, translate, name the, name all, compare, elaborate,
    more details, more detail, more info, more on, tldr, find the, rephrase, any news, any update, what else,
    how come, what do you mean, how do you know, are you sure, do you mean, did you mean, where did you get,
    where did you find, what is your source, can you give me, can you show, can you tell, can you explain,
    can you list, can you summarise, can you summarize, can you find, can you name, could you give me, could you show,
    could you tell, could you explain, could you list, could you summarise, could you summarize, could you find,
    could you name, could you share the, sag mir, nenn mir, zeig mir, erklär, erkläre, fass, gib mir, liste,
    was ist mit, kannst du mir sagen, kannst du mir die, kannst du das erklären, dime, explica, explícame, resume,
    puedes explicar, puedes decirme, dis-moi, explique, résume, donne-moi, peux-tu me dire, peux-tu expliquer,
    est-ce que
    """
)
# What begins like a question, and is said for effect, or asked of the people present.
RHETORICAL = parse_phrases(
    """
    how hard, how cool, how cute, how nice, how great, how lovely, how dare, how difficult, how awesome, how stupid,
    how is it going, how are things, what a, what an, what the, so what, why me, who knew, who cares, who asked,
    who would, who needs, who doesnt, who wouldnt, what could, what would, what is wrong with, is it me,
    is it just me, how is this, how is that
    """
)
INVITATIONS = parse_phrases(
    """
    is it ok, is it okay, would it be, who wants, who fancies, who feels, who could, who can, who will, who knows,
    wer kommt, wer bringt, wer will, quién viene, qui vient, on se, on y va,
    who is in, who is up, who is free, who is with, who is gonna,
    who has, who got, should i, shall i, did it, did that, did this
    """
)
# With one of these (not as its first word) a question is asked for effect.
EFFECT = parse_words(
    """
    even always anyway yet hell heck earth bloody freaking wtf tf kidding joking possibly honestly seriously bother
    nobody nothing really worse denn wohl hätte immer siempre toujours
    """
)
# People present: a question about or to them is not for the bot.
YOU = parse_words(
    """
    you u ya youre youve youll youd your yours yall du dich dir dein deine deinen ihr euch eure habt seid bist hast
    kannst willst musst machst hattest könntest tú tu te ti tienes puedes quieres vas vienes estás vosotros ustedes
    vous toi tes ton as-tu avez-vous peux-tu veux-tu pouvez-vous je jij jullie
    """
)
NOT_YOU = parse_words("du te je")  # in a French question, which one of FRENCH shows
FRENCH = parse_words("le la les des est sont une et quel quelle qui où quand combien mon si suis")
PEOPLE = parse_words(
    """
    we us anyone anybody someone somebody everyone everybody guys folks jemand wir alguien nosotros quelquun alguém
    alguem gente nous-mêmes
    """
)
WEEKDAYS = parse_words("monday tuesday wednesday thursday friday saturday sunday")
# What "how about …" and "what about …" propose rather than ask.
PROPOSALS = parse_words(
    """
    a at coffee tea lunch dinner breakfast beer drinks pizza cake walk movie tonight tomorrow later monday tuesday
    wednesday thursday friday saturday sunday
    """
)
CONJUNCTIONS = parse_words("and but or nor plus und oder aber sowie y o e pero et ou mais ma en")
# What may stand before a sentence, or before the mention of whom it addresses.
LEADING = INTERJECTIONS | CONJUNCTIONS | parse_words("so then also dann alors donc entonces então")
PREPOSITIONS = parse_words(
    """
    on at in since until by for from to with within without during about under of before after seit ab bis mit für von
    bei zu an um nach a de con para desde hasta en por à pour depuis jusquà avec
    """
)
AUXILIARIES = parse_words("is are was were do does did can could will would should has have had may might must am")
NEGATED = parse_words("isnt arent wasnt werent doesnt dont didnt cant couldnt wont wouldnt shouldnt hasnt havent aint")
# Verbs that begin a question: in German, Spanish and French with a question mark; the second list without one, too.
INVERTED = parse_words(
    """
    ist sind war hat wird werden kann darf muss müssen soll sollen gilt gibt gibts steht kostet braucht läuft hay está
    están se es y faut-il est-ce il é são tem há foi pode precisa fica tiene tienen cuesta cuestan sirve existe queda
    funciona custa custam serve
    """
)
UNMARKED_INVERTED = parse_words("gibts gilt hay est-ce faut-il")
QUESTION_WORDS = parse_words(
    """
    who whom whose what which when where why how wer wen wem wessen was wann wo wohin woher warum wieso weshalb wieviel
    wie welche welcher welches welchen welchem wozu womit wofür quién quiénes qué cuándo dónde cuánto cuánta cuántos
    cuántas cuál cuáles cómo donde adonde cual cuales quien quienes cuando cuanto cuanta cuantos cuantas qui quand où
    combien comment pourquoi quel quelle quels quelles lequel laquelle lesquels lesquelles chi dove quando quanto
    quanti quale
    perché quem qual quais onde quanta quantos quantas hoe hoeveel waar wanneer waarom welke wat
    """
)
# A French verb before its pronoun: "as-tu", "peut-on", "a-t-elle"; not "rendez-vous", nor the English "add-on".
INVERSION = re.compile(
    r"(?:peut|doit|est|sait|fait|met|dit|veut|vient|prend|rend|perd|voit|croit|tient|reçoit)-on"
    r"|\w+(?:-(?:tu|je)|(?:-t|[td])-(?:ils?|elles?)|-t-on"
    r"|(?<=avez|êtes|ulez|uvez|evez|llez)-vous|(?<=vons|mmes|lons)-nous)"
)
# Question words that also begin statements and exclamations; without a mark, one of AFTER_AMBIGUOUS_WORD must follow.
AMBIGUOUS_WORDS = parse_words("what when where why how was wie wat cuando donde quien cual")
AFTER_AMBIGUOUS_WORD = parse_words(
    """
    time often much many long far else for exactly happens happened about ist sind kostet kosten macht gibt heißt
    bedeutet lange viel viele hoch oft weit alt groß teuer
    """
)
SUBJECTS = parse_words(
    "i you he she we it there this that these those they the a an any all both each every my our his her their one"
)
# What begins a request.
IMPERATIVES = parse_words(
    """
    show give find list tell try send make get use look check search explain compare summarize just please repeat
    donne montre cherche trouve essaie dame dime muestra busca prueba zeig gib such sag mostra mostre procure tente
    """
)
# What begins a statement.
SUBJECT_PRONOUNS = parse_words(
    """
    i we he she they it this that there everyone everybody nobody somebody someone jemand niemand alguien nadie quelquun
    personne alguém ninguém ich wir er sie das dies nous je il elle ils elles on ça yo
    nosotros ella ellos ellas eu nós ele ela eles elas
    """
)
PRONOUNS = parse_words("i it this that these those he she we they life everyone anyone")
FRAGMENT_STARTS = PREPOSITIONS | parse_words("any only same even also the list exit default max not")
# What wonders at an answer and asks for nothing.
INCREDULOUS = parse_phrases(
    """
    really, seriously, for real, no way, is that so, what the, echt, echt jetzt, wirklich, im ernst, ernsthaft, sérieux,
    vraiment, ah bon, cest vrai, sans blague, en serio, de verdad, de veras, no me digas, sério, é sério, mesmo,
    é mesmo, verdade, jura, não acredito
    """
)
# What is asked for by its name alone: "link?", "docs on that?".
WANTED = parse_words(
    """
    link links source sources docs doc documentation example examples summary details tldr more quelle quellen beispiel
    enlace fuente ejemplo lien exemple resumo fonte exemplo deadline price owner status eta preis frist precio plazo
    prix délai preço prazo resumen résumé zusammenfassung
    """
)
ARTICLES = parse_words("the a an any der die das den ein eine el la los las un una le les une o os as um uma")
LAST_QUESTION_WORDS = parse_words("quand où combien comment quanto onde quando quem")
IN_PLACE = parse_words("qui quoi quand où combien comment quel quelle")  # "c'est quoi le code"
TELLING_VERBS = parse_words("kostet kosten dauert heißt bedeutet gilt braucht")  # after them "denn" is no effect
CONDITIONS = parse_words("if when once unless where")  # before a "you" that means anybody
PAST = parse_words("did was were has")
RIGHTS = parse_words("can could may must should do need allowed i")  # with these, "my" things are a matter of rules
# What an incomplete question without a mark does not contain; who is and is not spoken about in a statement that asks.
NO_ELLIPSIS = AUXILIARIES | parse_words(
    "i it im ill its thats that you me more then again so yes no done now here happy good to"
)
FIRST_PERSON = parse_words("i we me you lets ich je yo")
THIRD_PERSON = AUXILIARIES | parse_words(
    "who what which when where why how its theres est cest es ist faut exists means costs"
)
CONTRACTIONS = {
    "u": "you",
    "ur": "your",
    "r": "are",
    "whos": "who is",
    "whats": "what is",
    "wheres": "where is",
    "whens": "when is",
    "hows": "how is",
}
TAGS = parse_words(
    "right no isnt it is not eh huh ok okay correct yes oder ne nicht wahr gell was verdad cierto hein non"
)
BOTS = parse_words("bot threadlore")
