"""The words and phrases by which a message in a thread is recognized as a question, as small talk, or as neither.

A phrase is written in small letters, its words separated by blanks, without apostrophes; phrases by commas.
"""

from __future__ import annotations


def parse_words(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


def parse_phrases(text: str) -> tuple[tuple[str, ...], ...]:
    """The phrases of a list, each as its words."""
    return tuple(tuple(phrase.split()) for phrase in text.split(",") if phrase.strip())


# Acknowledgments, thanks, greetings and interjections.
INTERJECTIONS = parse_words(
    """
    thanks thank thankyou thx tx ty tysm cheers ta ok okay okey okie k kk kay hm hmm hmmm mhm uh um ah aha oh ooh oops
    well great good cool nice perfect excellent awesome brilliant super wonderful lovely sweet neat fine sure right
    yes yeah yep yup yay no nope nah alright understood noted roger gotcha got wow whoa lol lmao rofl haha hahaha hehe
    heh hah xd hi hello hey yo hiya morning evening bye ciao sorry please congrats congratulations hurray hooray amen
    damn gosh omg wtf yikes ouch ugh phew nevermind makes exactly true indeed agreed same ditto interesting funny
    amazing fantastic love bravo welcome anyway actually btw danke dank dankeschön merci gracias mil muchas grazie
    obrigado obrigada bedankt tack genial klasse prima toll passt genau gut ja nein nee doch jo jup jaja tja naja ach
    achso aja alles klar stimmt richtig hallo moin servus hola vale perfecto perfecta claro bueno bien buena buenas sí
    jajaja jajajaja dale estupendo entendido salut bonjour coucou parfait accord daccord oui non ouais mdr ptdr bon
    bro bruh dude fr ngl smh tbh imo imho
    bref voilà formidable top bene perfetto grande mooi
    """
)
# What may follow such a word without making the sentence any more than small talk.
FILLERS = parse_words(
    """
    a lot so much very many you u for the that this it its is was to know sense really indeed all everyone both again
    helps helped help helpful me just what i needed wanted point idea stuff one job work bot answer info sir mate man
    guys folks then now too enough youre in on sounds looks by with and but dude bro though dir euch ihnen vielen
    herzlichen sehr das hat hilft mir schön für die und ihr te lo la por todo de nada muy beaucoup bien bonne ça
    marche va à tous pour alors très mille tante
    """
)
# Questions that ask for no answer.
SMALL_QUESTIONS = frozenset(
    parse_phrases(
        """
    really, seriously, for real, honestly, right, ok, okay, yes, no, huh, eh, what, so, so what, and, and then,
    and now, and you, and so, how are you, how are things, how is it going, hows it going, how are you doing,
    whats up, whats new, sup, all good, all right, alright, you ok, you okay, is that so, is it, oh is it, oh really,
    oh yeah, no way, deal, clear, is that clear, is that ok, is that okay, sounds good, sound good,
    does that make sense, make sense, does that work, guess what, guess who, hear that, see, whos there, who are you,
    echt, echt jetzt, wirklich, ernsthaft, im ernst, wie bitte, na und, na, was, hä, oder, gell, wie gehts, gehts noch,
    wie geht es dir, alles gut, alles klar, ach ja, ach so, en serio, de verdad, verdad, ah sí, qué, qué tal, que tal,
    cómo estás, y qué, vraiment, sérieux, sérieusement, ah bon, ça va, comment ça va, comment vas-tu, quoi, hein,
    et alors, davvero, come stai, serio
    """
    )
)
# Beginnings of rhetorical questions.
RHETORICAL = parse_phrases(
    """
    who died and, what did i just, what did we just,
    who knew, who cares, who knows, who would have, whod have, who could have, who asked, who needs, who doesnt,
    who wouldnt, who wants to live, who even, who in their, who says i, who am i to, what could possibly,
    what could go, what else is new, whats not to, whats the point, whats the worst, what was i, what were they,
    what were we, what did i tell, what did you expect, what do i know, what is wrong with, whats wrong with people,
    what is the world, how hard can, how hard could, how cool is, how great is, how cute is, how nice is, how awesome,
    how lovely, how dare, how many times, how many more times, how should i, how am i supposed, how could they,
    how could i, how could anyone, how difficult can, how stupid, how is this even, how is that even,
    how is this still, how about no, how about that, why me, why bother, why am i, why do i even, why do i always,
    why do i bother, why do they always, why do we even, why is it always, why is there always, why is nothing,
    why cant we all, why cant people, why cant anyone, why oh why, why wouldnt, why on earth, where would we be,
    where have you been, where were you, isnt it, isnt that, isnt this, isnt life, isnt he, isnt she, arent we,
    arent they, aint, wasnt that, wasnt it, wouldnt it, wouldnt that, wouldnt we, couldnt be, doesnt it, doesnt that,
    doesnt everyone, doesnt everybody, dont you, dont we, didnt i, didnt we, havent we, hasnt it, can you believe,
    can you imagine, could it be any, could this, can it get, can this day, can we just, does it get, does it ever,
    does anyone ever, does anybody even, does anyone even, does nobody, has anyone ever, have you ever,
    are you kidding, are you joking, are you serious, are you mad, are you crazy, are we there yet, am i the only,
    am i right, am i dreaming, do i look, do i have to do, do we really, do you even, do you really, is it just me,
    is it friday, is nothing, is nobody, is this real, is this a joke, is that even, is this even, is this what,
    is there anything better, is there anything more, is that supposed, is that a threat, will it ever,
    will they ever, will we ever, will this ever, when will they, when will people, when will it ever,
    when will we ever, when will this, since when do, must it, need i, what the, what are we waiting,
    what does it matter, does it matter, does that matter, what difference does, what is love, why should i care,
    why should we care, why should anyone, who am i kidding, whos a good, whats taking, where is every, wheres every,
    when in doubt, so what if, what if i told, what is life, whats the world, remember, ever been, ever tried,
    ever seen, ever heard, ever noticed, ever wonder, heard that, seen this, you know what, wer hätte,
    wen interessiert, wen juckt, wer braucht, wer weiß, wer kann das wissen, was soll, was will man, was kann da,
    was weiß ich, ist das nicht, ist es nicht, wie schön, wie kann man, wie oft denn, warum immer, warum wundert,
    muss das, habe ichs nicht, wer wohl, quién lo diría, quién lo iba, quién iba, quién sabe, a quién le,
    para qué molestarse, qué más, qué va, qué le vamos, qué podría, qué esperabas, por qué siempre, no es bonito,
    no es increíble, qui leût, qui laurait, qui sait, qui sen, à quoi bon, quest-ce que tu veux, que veux-tu, où va,
    où allons, pourquoi toujours, cest pas beau, nest-ce pas, comment peut-on, chi lo sa, chi lavrebbe
    """
)
# Words that make any question rhetorical.
RHETORICAL_WORDS = parse_words("wtf ffs hell heck fuck earth bloody freaking frigging")
LAUGHTER = parse_words(
    """
    lol lmao rofl haha hahaha hahahaha hehe hihi xd jaja jajaja jajajaja mdr ptdr kkk lolol joy sweat_smile laughing
    smirk stuck_out_tongue rolling_on_the_floor_laughing upside_down_face wink 😂 🤣 😅 😆 😜 😝 😛 🙃 😏 😉 🤪
    """
)
# What people ask each other to, not a bot.
SOCIAL = parse_words(
    """
    coffee tea lunch dinner breakfast brunch beer beers drinks drink pint pizza cake walk swim game movie football pub
    anyone anybody somebody someone volunteers takers ideas thoughts opinions objections feedback ready coming joining
    kaffee mittag mittagessen bier feierabend jemand freiwillige café cerveza comida almuerzo alguien apéro déjeuner
    quelquun
    """
)
INVITATIONS = parse_phrases(
    """
    everyone ok, everybody ok, everyone fine, everyone happy, everyone in, everyone agreed, all in favour, lets,
    let us, let me, shall we, shall i, should we, should i, wanna, want to, anyone, anybody, someone, somebody,
    whos in, who is in, who else is in, who wants, who else wants, who volunteers, whos up, who is up, who feels,
    whos free, who is free, who has time, whos coming, who is coming, whos joining, who is joining, whos bringing,
    who will help, who can help, who could help, who can take over, who would like, who fancies, whos with,
    who is with, who can bring, who could bring, who can take, who takes over, would it be ok,
    would it be possible for, can i help, can i come, can i join, may i join, can someone, can somebody, can anyone,
    can anybody, could someone, could somebody, could anyone, could anybody, would someone, would somebody,
    would anyone, would anybody, will someone, will somebody, will anyone, did everyone, did everybody, has everyone,
    has everybody, have you all, are you all, is anyone, is anybody, is someone,
    has anyone, has anybody, has someone, did anyone, did anybody, did someone, does anyone want,
    does anyone have time, does anybody want, do we want, why dont we, why dont you, why not just, how about we,
    how about you, how about a, how about lunch, how about coffee, what about you, what if we, what do we do,
    what shall we, what should we, where shall we, where should we, when shall we, when should we, up for, fancy,
    mind if, any objections, any volunteers, any takers, any thoughts, wollen wir, sollen wir, soll ich, kann jemand,
    könnte jemand, hat jemand, ist jemand, kommt jemand, mag jemand, will jemand, wer kommt, wer macht mit,
    wer ist dabei, wer hat lust, wer hat zeit, wer will, wer mag, wer kann helfen, wer kann das, wer kann morgen,
    wer kann heute, wer bringt, können wir, lass uns, lasst uns, wie wärs, wie wäre es, vamos, alguien, puede alguien,
    podría alguien, quién viene, quién quiere, quién se apunta, quién trae, nos vemos, podemos, quedamos, quelquun,
    on y va, on se, qui vient, qui veut, qui est partant, qui peut, tu viens, vous venez, est-ce que quelquun,
    est-ce quon y va, est-ce quon se, est-ce quon va, est-ce quon fait, est-ce quon mange, est-ce quon prend,
    on fait, si on
    """
)
# Requests that a bot can meet.
REQUESTS = parse_phrases(
    """
    tell me, tell us, show me, show us, show the, show all, list, list all, explain, summarise, summarize, sum up,
    sum it up, describe, remind me who, remind me what, remind me when, remind me where, remind me how, remind me of,
    remind me about, give me, give us, translate, quote the, name the, name all, name two, name three, compare,
    elaborate, more details, more detail, more info, more information, more about, more on, details, sources, source,
    the source, tldr, tl dr, find the, find out, find me, look up, go on, say more, say that again in, repeat,
    rephrase, shorter, simpler, in short, in english, as a list, as a table, any news, any idea, any ideas, any info,
    any update, any updates, any details, any word, any chance, any other, any more, anything else, anything about,
    anything on, what about, what else, what if, how about, how come, how so, whats with, whats the, whats a,
    whats in, whats on, whats that, whats this, whats it, whos the, whos that, wheres the, wheres it, whens the,
    hows the, whos responsible, id like to know, i would like to know, i want to know, i need to know,
    id love to know, just wondering if, just wondering who, just wondering when, wondering who, wondering when,
    wondering whether, wondering if, i wonder who, i wonder when, i wonder where, i wonder whether, i wonder if,
    i wonder which, does anyone know, does anybody know, anyone know, anybody know, do you know, would you know,
    do you happen to know, do you have a link, do you have a source, do you have the, do you have any,
    do you have more, do you mean, did you mean, did you find, are you sure, are you certain, how do you know,
    where did you, where do you get, why do you say, what do you mean, what do you know, what can you,
    what else can you, what else do you, who told you, whats your source, what is your source, what are your sources,
    can you be, could you be, got a link, got a source, got more, do you need, do you have to, how do you,
    where do you, when do you have to, where can you, how can you, how long do you, how much do you, what do you need,
    what do you have to, what do you get, what do you pay, when can you, sag mir, sagt mir, nenn mir, nenne mir,
    zeig mir, zeige mir, erklär, erkläre, fass, fasse, gib mir, mehr dazu, mehr details, mehr infos, liste,
    was ist mit, wie ist es mit, wie sieht es, wie sieht das, wie stehts, gibts, gibt es, weißt du, weisst du,
    weiß jemand, kannst du mir sagen, kannst du das erklären, kannst du mir, könntest du mir, kennst du, dime,
    muéstrame, explica, explícame, resume, resúmeme, lista, cuéntame, dame, más detalles, qué pasa con, qué hay de,
    puedes decirme, me puedes decir, puedes explicar, sabes quién, sabes cuándo, sabes cuánto, sabes si, sabes dónde,
    dis-moi, dites-moi, montre-moi, explique, résume, donne-moi, plus de détails, peux-tu me dire,
    pouvez-vous me dire, peux-tu expliquer, sais-tu, savez-vous, tu sais, vous savez, quid, quen est-il, est-ce que,
    il en est
    """
)
WHETHER = parse_words("if whether ob si is")
# What "can you …" may go on with if a bot is meant.
INFORMING_VERBS = parse_words(
    """
    tell explain show list summarise summarize give find look say name describe translate elaborate repeat rephrase
    clarify quote point link cite compare share recap remind confirm search provide specify expand sagen erklären
    zeigen nennen auflisten zusammenfassen finden decir explicar mostrar dire expliquer montrer lister résumer
    """
)
CAN_YOU = parse_words("can could would will cant couldnt")
SOFTENERS = parse_words("please also just maybe perhaps quickly briefly then again kindly possibly")
YOU = parse_words(
    """
    you u ya youre youve youll youd your yours yall du dich dir dein deine deinen ihr euch eure habt seid bist hast
    kannst willst musst machst hattest warst tú tu te ti tienes puedes quieres vas vienes estás vosotros usted ustedes
    vous toi tes ton ta as-tu avez-vous peux-tu veux-tu pouvez-vous voulez-vous es-tu êtes-vous
    """
)
FRENCH = parse_words("le la les des est sont une et quel quelle qui où quand combien")
CONDITIONS = parse_words("if when once unless whenever where")
MEANT = parse_words("mean meant mentioned cited quoted listed linked named meinst meintest nanntest erwähntest")
ABBREVIATIONS = {"u": "you", "r": "are", "ur": "your", "pls": "please", "plz": "please"}
SHARED_WITH_YOU = parse_words("source sources name answer answers data documents knowledge")
CONJUNCTIONS = parse_words("and but or nor plus und oder aber sowie y o e pero et ou mais ma en")
ADVERBS = parse_words("also so then auch dann así entonces también también alors donc aussi anche ook maybe perhaps")
AUXILIARIES = parse_words(
    """
    is are was were do does did can could will would should has have had may might must isnt arent wasnt werent doesnt
    dont didnt cant couldnt wont wouldnt shouldnt hasnt havent hadnt
    """
)
MODALS = parse_words("can could may might must should do does need allowed")  # with these, "my" things are one's rights
PADDING = (
    CONJUNCTIONS | ADVERBS | parse_words("just still really actually only noch eigentlich aún todavía juste encore")
)
PREPOSITIONS = parse_words(
    """
    on at in since until by for from to with seit ab bis mit für von bei zu an um nach a de con para desde hasta en por
    à pour depuis jusquà avec chez
    """
)
SUBJECTS = parse_words(
    """
    i we they he she it there this that these those the a an my our his her their any anything anyone all both each
    every some somebody someone nobody no
    """
)
PRONOUNS = parse_words(
    """
    i we he she they you it im ive ill id were weve well hes shes theyre theyve its thats ich wir er sie es du ihr yo
    nosotros él ella ellos je jai nous il elle ils elles tu vous
    """
)
QUESTION_WORDS = parse_words(
    """
    who whom whose what which when where why how whos whats wheres whens hows wer wen wem wessen was wann wo wohin
    woher warum wieso weshalb weswegen wieviel wieviele wie welche welcher welches welchen welchem wozu womit wofür
    worüber woran wovon inwiefern quién quiénes quien quienes qué cuándo dónde cuánto cuánta cuántos cuántas cuanto
    cuantos donde cuál cuáles cual cómo qui quand où combien comment pourquoi quel quelle quels quelles chi dove
    quando quanto quanti quale quali perché quem onde qual quais hoe hoeveel waar wanneer waarom welke wat
    """
)
# After these a question is told by any word; after the others only by a verb or a measure.
SURE_QUESTION_WORDS = parse_words(
    """
    who whom whose whos whats wheres whens wer wen wem wessen wann wohin woher warum wieso weshalb weswegen wieviel
    wieviele welche welcher welches welchen welchem wozu womit wofür worüber woran wovon inwiefern quién quiénes quien
    quienes cuándo dónde cuánto cuánta cuántos cuántas cuanto cuantos cuál cuáles cual qui où combien pourquoi chi
    dove quanto quanti quale quali perché quem onde qual quais hoeveel waar wanneer waarom welke
    """
)
MEASURES = parse_words(
    """
    long much many far old often big deep high tall wide heavy fast late early soon large thick hot cold expensive to
    exactly come strong likely lange viel viele oft weit alt hoch groß teuer spät früh tief breit schwer lang schnell
    """
)
AFTER_WHAT = parse_words(
    """
    time day date month year colour color kind size price number name else for exactly happens happened is are was
    were do does did can could will would should has have had must may ist sind war kostet kosten macht gibt heißt
    bedeutet passiert steht wird kann muss darf soll hat es son fue pasa pasó significa día hora precio hay dice dijo
    tipo necesito cuesta est sont kost
    """
)
EXCLAIMED = parse_words(
    "nice good great odd weird funny why fine true exactly sad cool lovely ok okay perfect annoying fair"
)
FINITE_VERBS = parse_words(
    """
    is are was were am be has have had will would can could should must may might did does do said says got went came
    goes comes took takes made makes gave gives saw sees knew knows think thinks thought need needs want wants like
    likes love loves hope hopes guess bring brings keep keeps let lets told tells isnt arent wasnt dont doesnt didnt
    cant wont heres theres thats whats its im ive ill id theyre hes shes ist sind war waren hat haben habe hatte wird
    werden kann muss soll bin macht mache geht kommt bringe es son era está están fue tiene tengo hay va voy est sont
    était ai a avait suis fait vais
    """
)
CLOSED = parse_words(
    """
    done gone finished fixed sent sold solved ready out again there more so yes no off bye counting then now here you
    me that this it him her them us too weiter fertig jetzt dann ya luego fin voilà cetera stuff whatever all still
    else not never though worth happy good merry best lots many relax breathe action hugs kisses goodbye to
    """
)
RELATIVE = parse_words("means makes reminds brings explains")
TAGS = parse_words(
    "right no isnt it is not eh huh innit ok okay correct yes oder ne nicht wahr gell was verdad cierto hein non vero"
)
BOTS = parse_words("bot threadlore")
GROUP_NAMES = parse_words("here channel everyone all team folks guys everybody")
INDEFINITE_PRONOUNS = parse_words("everyone everybody anyone anybody someone somebody guys folks")
OBJECTIONS = parse_words("but aber sowie pero mais ma nor")
SENTENCE_OPENERS = parse_words(  # what begins a sentence before a comma and is nobody's name
    """
    so then also but and or well now today tomorrow yesterday tonight first second third finally again next still
    besides meanwhile however otherwise apparently maybe perhaps actually anyway ok okay if when where after before
    since because although while as in on at by for from with without during question quick another
    also dann aber und oder heute morgen gestern frage wenn als weil entonces además pero y hoy mañana si cuando alors
    donc mais et aujourdhui demain si quand
    """
)
