"""Words known as parts of names, or as no names: given names, places, months and currencies. Pure.

Territories, months, days and currencies are those of the Unicode CLDR, in six languages.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from babel import Locale

from engine.text.word_lists import CALENDAR_WORDS, word_set

if TYPE_CHECKING:
    from collections.abc import Iterable

LANGUAGES = ("en", "de", "fr", "es", "pt", "it")

GIVEN_NAMES = word_set(
    """
    aaron abigail adam adrian agnes ahmed aisha alain alan albert alejandro aleksandr alex alexander alexandra alfred
    alice alicia alison allan amanda amelia amir amy ana anastasia andrea andreas andrew andré andy angela anita anja
    ann anna anne annette anthony antoine anton antonio ari arjun arnold arthur astrid audrey barbara beatrice ben
    benedict benjamin bernard bert bettina bill björn bob boris brenda brian bruce bruno camille carl carla carlos
    carmen carol caroline catherine cecilia charles charlie charlotte chen chris christian christina christine
    christopher claire clara claude claudia colin connor craig cristina cynthia daniel daniela danielle dave david
    deborah denis dennis diana diane dick diego dieter dirk dmitri dolores dominic donald donna dorothy douglas duncan
    ebenezer edgar edith eduardo edward edwin eileen eleanor elena eli elias elisabeth elizabeth ella ellen elsa emil
    emilia emily emma eric erica erik ernest ernst esther ethan eugene eva evelyn fatima felix fernando florence florian
    frances francesca francesco francis francisco frank franz françois fred frederick friedrich fritz gabriel gabriela
    gary geoffrey george gerald gerard giovanni giulia giuseppe gloria gordon graham greg gregory greta guillaume gustav
    guy hannah hans harold harriet harry hassan heather heidi heinrich helen helena helga henri henry herbert herman
    hugo ian ibrahim igor ilse ines ingrid irene irina isaac isabel isabella ivan jack jacob jacqueline jacques jake
    james jan jane janet jason javier jean jeff jeffrey jennifer jens jeremy jessica jim joan joanna joe johan johann
    johanna john jonas jonathan jorge josef joseph joshua josé juan judith julia julian julie julius jürgen karen karim
    karin karl karla kate katharina katherine kathleen katie kay keith ken kenneth kevin kim klara klaus kurt lara lars
    laura lauren laurent lawrence leah lena leo leon leonard leonardo lewis li liam lin linda lisa lou louis louise luca
    lucas lucia lucy luigi luis lukas luke magdalena manfred manuel marc marcel marco marcus margaret margarita maria
    marianne marie marina mario marion mark marta martha martin martina mary mateo matthew matthias maurice max maya
    megan mehmet mei melanie melissa michael michel michelle miguel mike mikhail miriam mohamed mohammed monica monika
    moritz nadia nancy naomi natalia natalie nathan neil nicholas nicolas nicole nigel nikolai nils nina noah nora
    norman olaf oleg olga oliver olivia omar oscar otto pablo pamela patricia patrick paul paula pauline pavel pedro peg
    peggy peter petra philip philippe phillip pierre priya rachel rafael rahul ralph ramon raymond rebecca ricardo
    richard rita robert roberto robin roger roland ronald rosa rose roy rudolf russell ruth sabine sally sam samantha
    samuel sandra sara sarah scott sean sebastian sergei sergio sharon sheila silvia simon simone sofia sophia sophie
    stefan stefanie stella stephanie stephen steve steven stuart susan susanne sven sylvia tanya ted teresa terry
    theodore theresa thomas tim timothy tina tobias tom tomás tony uwe valentina vera veronica victor victoria viktor
    vincent viola vladimir walter wang wei wendy werner wilhelm william winston wolfgang xavier yuki yusuf yves yvonne
    zoe ólafur łukasz
    """
)

_PLACES = frozenset(
    " ".join(name.split())
    for name in """
    alabama, alaska, alberta, amsterdam, arizona, arkansas, athens, atlanta, auckland, baghdad, bangkok, barcelona,
    bavaria, beijing, belfast, belgrade, berlin, birmingham, bogotá, bordeaux, boston, bratislava, bremen, bristol,
    britain, british columbia, brussels, bucharest, budapest, buenos aires, cairo, calcutta, california, cape town,
    caracas, catalonia, central america, chicago, cleveland, cologne, colorado, connecticut, copenhagen, dallas,
    damascus, delaware, delhi, denver, detroit, dresden, dubai, dublin, düsseldorf, earth, edinburgh, england, eu,
    florence, florida, frankfurt, geneva, genoa, glasgow, gothenburg, graz, great britain, hamburg, hanover, havana,
    hawaii, helsinki, hong kong, houston, idaho, illinois, indiana, iowa, istanbul, jakarta, jerusalem, johannesburg,
    kansas, karachi, kentucky, kyiv, kyoto, köln, lagos, leeds, leipzig, lille, lima, lisboa, lisbon, liverpool,
    ljubljana, london, londres, los angeles, louisiana, lyon, macau, madrid, maine, manchester, manila, marseille,
    maryland, massachusetts, melbourne, mexico city, miami, michigan, middle east, milan, minneapolis, minnesota,
    mississippi, missouri, montana, montreal, moscow, mumbai, munich, münchen, nairobi, nantes, naples, nebraska,
    nevada, new delhi, new hampshire, new jersey, new mexico, new orleans, new york, new york city, nice, north america,
    north carolina, north dakota, northern ireland, nuremberg, ohio, oklahoma, ontario, oregon, osaka, oslo, ottawa,
    oxford, palermo, paris, pennsylvania, philadelphia, phoenix, pittsburgh, porto, prague, princeton, quebec,
    queensland, quito, reykjavik, rhode island, riga, rio de janeiro, rome, rotterdam, san diego, san francisco,
    santiago, scotland, seattle, seoul, seville, shanghai, siberia, sofia, south america, south carolina, south dakota,
    st. louis, st. petersburg, stockholm, stuttgart, sydney, são paulo, tallinn, tehran, tel aviv, tennessee, texas, the
    hague, tokyo, toronto, turin, turkey, u.k., u.s., u.s.a., uae, uk, us, usa, utah, valencia, vancouver, venice,
    vermont, vienna, vilnius, virginia, wales, warsaw, washington, washington d.c., west virginia, wien, wisconsin,
    wyoming, zagreb, zurich, zürich
    """.replace("\n", " ").split(",")
)
HOLIDAYS = word_set("christmas easter")
_CURRENCY_WORDS = word_set("euro euros dollar dollars pound pounds franken francs yen cent cents")
# Endings of words that begin a sentence more often than they are names.
_COMMON_ENDINGS = (
    "ed", "tion", "tions", "ción", "ment", "ments", "mente", "ness", "ity", "ities", "able", "ible", "ous", "ful",
    "less", "ive", "ical", "ance", "ence", "ent", "ant", "ate", "ism",
)  # fmt: skip
_MIN_COMMON_LETTERS = 6


@lru_cache(maxsize=1)
def place_names() -> frozenset[str]:
    """Countries, continents, federal states and large cities, in lower case."""
    named = (name for locale in _locales() for code, name in locale.territories.items() if code != "001")
    return _PLACES | {name.casefold() for name in named}


@lru_cache(maxsize=1)
def calendar_words() -> frozenset[str]:
    """Months and days of the week with their short forms, in lower case without periods."""
    forms = (
        form
        for locale in _locales()
        for table in (locale.months, locale.days)
        for width in ("wide", "abbreviated")
        for form in table["format"][width].values()
    )
    return CALENDAR_WORDS - HOLIDAYS | _fold(form.strip(".") for form in forms)


def looks_common(word: str) -> bool:
    """Whether a word in lower case ends like a participle, an adjective or an abstract noun."""
    return len(word) >= _MIN_COMMON_LETTERS and word.endswith(_COMMON_ENDINGS)


def is_currency(word: str) -> bool:
    """Whether it is the code of a currency in capitals, or one of the words for the common ones."""
    return word.casefold() in _CURRENCY_WORDS or (len(word) == 3 and word.isupper() and word in _currency_codes())


@lru_cache(maxsize=1)
def _currency_codes() -> frozenset[str]:
    return frozenset(Locale("en").currencies)


@lru_cache(maxsize=1)
def _locales() -> tuple[Locale, ...]:
    return tuple(map(Locale, LANGUAGES))


def _fold(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.casefold() for word in words)
