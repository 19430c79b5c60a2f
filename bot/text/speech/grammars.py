"""The function words and verb forms of five languages, by which a clause with a finite verb is told from a noun phrase.

All words are lower-case and without apostrophes, as those of `Sentence`. None of the lists has words that name things.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.text.speech.phrases import parse_words

# Pronouns that are nothing but subjects.
SUBJECTS = parse_words("i we he she they ich wir er je nous il elle on ils elles yo ella ellos eu ele elas eles")


@dataclass(frozen=True, slots=True)
class Grammar:
    """What shows the finite verb of a language.

    `openers`: determiners that begin a new noun phrase without a preposition, so that a verb stands before them.
    `pronouns`: unstressed pronouns beside a verb; `leading`: particles and pronouns before a verb; `links`:
    prepositions and conjunctions, which continue a noun phrase; `adverbs`: what follows a verb; `articles`: what makes
    a noun phrase at the beginning definite; `plurals`: those of more than one; `finite`: verb forms that are always
    finite; `endings`: of such forms; `non_finite`: endings of no finite form.
    """

    openers: frozenset[str]
    pronouns: frozenset[str]
    leading: frozenset[str]
    links: frozenset[str]
    adverbs: frozenset[str]
    articles: frozenset[str]
    plurals: frozenset[str]
    finite: frozenset[str]
    endings: re.Pattern[str]
    non_finite: re.Pattern[str]

    @property
    def closed(self) -> frozenset[str]:
        """All words that name nothing."""
        return self.openers | self.pronouns | self.leading | self.links | self.adverbs | self.articles | self.plurals


ENGLISH = Grammar(
    openers=parse_words(
        """
        the a an my our his her their its your some no another most both several much many every each
        """
    ),
    pronouns=parse_words("it them him us me you itself himself herself themselves everything nothing everybody"),
    leading=parse_words("i we he she they never"),
    links=parse_words(
        """
        of in on at for with from to by about and or per without between under after before until since during than as
        into onto over behind near through via against towards but if when that who which whose what where
        """
    ),
    adverbs=parse_words(
        """
        now yesterday today tomorrow tonight again already still just yet soon early late well here there away back out
        up down off over once twice this last next finally too also not always often later
        """
    ),
    articles=parse_words("the my our his her their your"),
    plurals=frozenset(),
    finite=parse_words(
        """
        took went broke came gave wrote drove spoke fell grew knew saw began chose rose stole threw wore ate drank sang
        swam rang forgot froze hid woke flew shook tore drew blew bit forbade rode sank shrank spun sprang strove swore
        was were has does had did got became blows
        """
    ),
    endings=re.compile(r"(?!)"),
    non_finite=re.compile(r"ing$"),
)
GERMAN = Grammar(
    openers=parse_words(
        """
        das die den dem ein eine einen einem mein meine meinen dein deine deinen sein seine seinen ihr ihre ihren
        unser unsere unseren euer eure kein keine keinen viel viele wenig wenige etwas nichts alles
        """
    ),
    pronouns=parse_words("sich mich mir dich uns euch ihm ihn ihnen es"),
    leading=parse_words("ich wir er sie man"),
    links=parse_words(
        """
        von vom in im ins an am auf für mit bei beim zu zum zur aus nach um über unter vor seit bis ab und oder aber der
        des als wie ohne gegen durch zwischen hinter neben wegen während dass wenn ob
        """
    ),
    adverbs=parse_words(
        """
        jetzt heute gestern morgen wieder schon noch nicht nie immer bald hier dort früh spät gut sehr auch nun endlich
        leider dann erst mehr weg zurück los fest statt auf an ab ein aus mit um zu
        """
    ),
    articles=parse_words("der die das mein meine dein deine unser unsere ihr ihre sein seine ein eine"),
    plurals=frozenset(),
    finite=parse_words(
        """
        kam ging brach nahm gab fand saß fuhr lief fiel schrieb blieb sah las traf verlor begann trug schlug zog flog
        hielt ließ hieß schlief wuchs warf half starb bekam kamen gingen nahmen gaben fanden blieben fuhren war wurde
        hatte konnte musste mochte wollte sollte durfte brachte dachte wusste kannte hat ist wird
        """
    ),
    endings=re.compile(r"(?!)"),
    non_finite=re.compile(r"end$"),
)
FRENCH = Grammar(
    openers=parse_words(
        """
        le la les un une mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs beaucoup peu trop
        """
    ),
    pronouns=frozenset(),
    leading=parse_words("se ne me te nous vous lui je on il elle ils elles ça"),
    links=parse_words(
        """
        de du des à au aux en dans sur sous pour par avec sans chez entre vers et ou mais contre après avant pendant
        que qui dont où si comme sauf
        """
    ),
    adverbs=parse_words(
        """
        demain hier aujourdhui maintenant déjà bien encore plus pas jamais toujours aussi enfin bientôt tôt tard ici là
        depuis jusquà jusquau ce cet cette surtout notamment sinon
        """
    ),
    articles=parse_words("le la les mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs un une"),
    plurals=parse_words("les mes tes ses nos vos leurs deux trois quatre cinq six plusieurs quelques"),
    finite=parse_words(
        """
        est sera serait avait avaient ont étaient fut sera seront vont va viennent vient prend prennent met mettent
        """
    ),
    endings=re.compile(r"(?:aient|èrent|eront|erons|iront|assent)$"),
    non_finite=re.compile(r"(?:ant|er|ir)$"),
)
SPANISH = Grammar(
    openers=parse_words(
        """
        el la los las un una unos unas mi mis tu tus su sus nuestro nuestra nuestros nuestras mucho mucha muchos muchas
        poco poca
        """
    ),
    pronouns=frozenset(),
    leading=parse_words("se le me te nos ya no nunca siempre también todavía aún tampoco yo ella ellos"),
    links=parse_words(
        """
    de del a al en con por para sin sobre entre desde hasta hacia cada y e o u pero que si como según contra durante
    tras
        """
    ),
    adverbs=parse_words("hoy ayer mañana ahora bien mal pronto tarde aquí allí ya desde hasta otra este esta más"),
    articles=parse_words("el la los las mi mis tu tus su sus nuestro nuestra nuestros nuestras"),
    plurals=parse_words(
        """
        los las mis tus sus nuestros nuestras dos tres cuatro cinco seis varios varias algunos algunas
        """
    ),
    finite=parse_words(
        """
        fue fueron era eran hubo hizo dijo trajo puso vino tuvo quiso supo hace dice trae va van viene
        """
    ),
    endings=re.compile(r"(?:\wó|aron|ieron|[aei]rá|[aei]rán|aban)$"),
    non_finite=re.compile(r"(?:[aei]r|ndo)$"),
)
PORTUGUESE = Grammar(
    openers=parse_words(
        """
        o os as um uma uns umas meu minha meus minhas seu sua seus suas nosso nossa nossos nossas muito muita muitos
        muitas pouco pouca
        """
    ),
    pronouns=frozenset(),
    leading=parse_words("se me te nos lhe lhes já não nunca sempre também ainda eu ele ela eles elas você vocês"),
    links=parse_words(
        """
    de do da dos das a à ao aos às em no na nos nas num numa com por pelo pela para pra sem sobre entre desde cada até
    e
        ou mas que se como contra
        """
    ),
    adverbs=parse_words(
        """
    principalmente sobretudo hoje ontem amanhã agora bem mal logo cedo tarde aqui ali já desde até este esta mais em
    para
        """
    ),
    articles=parse_words("o a os as meu minha meus minhas seu sua seus suas nosso nossa nossos nossas"),
    plurals=parse_words("os as meus minhas seus suas nossos nossas dois duas três quatro cinco seis vários várias"),
    finite=parse_words(
        """
        foi foram era eram fez disse trouxe pôs veio teve quis soube faz diz traz produz vai vão vem deu
        """
    ),
    endings=re.compile(r"(?:\w\wou|\w{3}eu|iu|aram|eram|iram|\wrão|[aei]rá|avam|\w\w[^tr]ei)$"),
    non_finite=re.compile(r"(?:[aei]r|ndo)$"),
)
GRAMMARS = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH, "pt": PORTUGUESE}
