"""Word lists of the offline rules. Pure."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


def split_phrases(text: str) -> tuple[tuple[str, ...], ...]:
    """The words of each phrase between the commas of a text."""
    return tuple(tuple(phrase.split()) for phrase in text.split(","))


def index_words(*rows: str) -> dict[str, int]:
    """The number of each word in its row; words that are divided by a slash have the same one."""
    return {word: number for row in rows for number, words in enumerate(row.split()) for word in words.split("/")}


# Function words in English and, if they are not English words too, in German, French, Spanish and Italian.
STOP_WORDS = word_set(
    """
    celui celle ceux celles aquel aquella aquele aquela
    a an the and or but if nor so yet of to in on at by for from with without within about above below into onto over
    across along under out up off down through between among during before after till since because while when where
    why how who whom whose what which that this these those there here then than as is are was were be been being am do
    does did doing done has have had having can could will would shall should may might must not no yes i me my mine we
    us our ours you your yours he him his she her hers it its they them their theirs himself herself itself themselves
    myself yourself one ones some any all each every both either neither other others another such same own more most
    much many few less least very too just only also even still already again ever never now s t d ll m re ve don isn
    didn doesn won't can't please tell der die das den dem des ein eine einen einem einer und oder ist sind war waren
    nicht mit von zu zum zur im am auf für wer wie wo wann warum welche welcher welches le la les un une des du et ou
    est sont dans sur pour avec qui que quoi où quand comment el los las uno una y es son en con por para quien cuando
    donde como il lo gli di e che chi cuánto cuánta cuántos cuántas cuándo quién quiénes dónde cuál cuáles qué cómo
    combien quel quelle quels quelles pourquoi quanto quanta quantos quantas quando onde quem qual quais wieviel wen wem
    wessen
    """
)

# Words that say little about the subject of a question: verbs, and others.
GENERIC_VERBS = word_set(
    """
    get take make go come use give put let keep find want need like mean happen name call say tell ask know think see
    look show talk mention work start begin end stop become turn bring reach try help seem hold have cost pay live stand
    lie sit happen occur plan decide change
    """
)
GENERIC_WORDS = GENERIC_VERBS | word_set(
    """
    new old former previous good bad big small long short first last latest next recent current exact exactly
    total thing something
    anything everything nothing someone anyone anybody somebody everybody person people man woman kind type sort way
    part place time day date week month year hour minute moment number amount name reason case fact detail information
    question answer list material machine tool animal colour color object item far ago away around back well until
    against really actually usually normally currently together per after all
    maximum minimum average typical main full whole entire overall
    """
)

# Words that mean the same, a group per line.
SYNONYMS = tuple(
    word_set(line)
    for line in """
    admission entrance entry
    accommodation hotel
    agreement contract
    ban forbid prohibit
    belong own
    bicycle bike
    bill invoice receipt
    boss chief head manager
    bug defect fault
    buy purchase
    cafeteria canteen
    car vehicle automobile
    chair seat
    child kid
    choose decide pick select
    client customer
    clean wash
    close shut
    colleague employee person staff worker
    company firm
    computer laptop notebook
    contact reach
    decline refuse reject
    defer delay postpone
    delete erase remove
    delivery shipment
    dismiss fire
    doctor physician
    down downtime outage
    eat dine
    elevator lift
    establish founded started
    film movie
    fix mend repair
    flight fly plane
    flat apartment
    forest wood
    garbage rubbish trash waste
    gather meet assemble
    guest visitor
    hire lease rent
    holiday leave vacation
    ill sick
    allow permit
    lawyer attorney
    journey travel trip
    letter mail
    passcode passphrase password
    phone telephone
    photo photograph picture
    rail train
    quit resign
    restroom toilet
    road street
    rule regulation
    salary wage
    shop store
    supplier vendor
    supplies supplied delivers provides
    wed marry
    """.strip().splitlines()
)

# Nouns that name an attribute of something: "and the price?" asks of the same subject as the question before.
ATTRIBUTE_WORDS = word_set(
    """
    price cost costs fee rate budget amount total sum salary discount color colour size height width length depth weight
    age speed range capacity volume temperature owner author manager boss contact supplier vendor customer client
    tenant landlord deadline date time schedule start end duration status state progress version release password code
    pin key link url address location place room phone number email name title reason purpose cause result outcome
    risk limit maximum minimum default format type model brand material origin source warranty policy rule
    preis kosten gebühr farbe größe gewicht alter besitzer eigentümer termin frist datum uhrzeit status version adresse
    telefonnummer grund ergebnis lieferant passwort code
    precio coste costo color tamaño peso edad dueño propietario plazo fecha hora estado versión dirección teléfono razón
    motivo resultado proveedor contraseña
    prix coût couleur taille poids âge propriétaire délai date heure état version adresse téléphone raison résultat
    fournisseur
    preço custo cor tamanho peso idade dono proprietário prazo data hora estado versão endereço telefone motivo
    resultado fornecedor senha
    """
)

# Words that often start a sentence and are not names, in addition to STOP_WORDS and GENERIC_WORDS.
COMMON_WORDS = word_set(
    """
    above according actor actress additionally afterwards ah alas almost although always amid among annual anyway apart
    artist author average aye bah basic bear behold besides bless bring but bye calm certainly cheap check clean clearly
    close closed cold come common complete correct could couple current daily dead dear deep did direct director done
    dry due earlier early eight eighteen eighty eleven else engineer enough entire especially evening every everyone
    everywhere exactly excellent except external extra false fast fees fifteen fifth fifty finally fine five fog follow
    following forgive forty foul four fourteen fourth free fresh friends from full further generally glad good greased
    great half hard heavy hello here hey hi high hope hot however huge humbug hundred hundreds hurray hurry indeed inner
    instead key lack large late later latest lean leave light likewise listen little long loose lots loud love low lower
    main major many maybe mayor meanwhile medium merry million mind minor minutes missing more moreover morning mostly
    multiple must nay near nearly neither nevertheless new news nice nine nineteen ninety nobody none noon not note
    noted notes notice often oh ok okay old once open opposite original otherwise outer outside overall own perfect
    perhaps player please plenty pooh possibly practice preliminary present president previously prices primary prior
    private probably proof pure quick quite rare rather raw read ready real recently regular remember rich right rise
    round safe secondary see seen seven seventeen seventy several short should similarly simply single six sixteen sixty
    slow slowly small soft somewhere soon sorry speak speaking special specifically strange strong sudden sure surely
    tall team ten thank thanks therefore thick thin third thirteen thirty though thousand thousands three thrice thus
    tiny today together tomorrow tonight top total true twelve twenty twice two unfortunately unless unlike upon urgent
    useful useless usually valid various visitors wait warm warning water weather welcome wet whatever whenever wherever
    whether white whoever whole wide wind winner wise wonderful words work worse wow write wrong yes yesterday yo young
    """
)

# Words that belong to a series, of which each means something else: similar vectors do not make them the same.
CONTRASTING_WORDS = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
    october november december spring summer autumn fall winter red green blue yellow black white grey gray brown orange
    purple pink first second third fourth fifth sixth north south east west northern southern eastern western left right
    upper lower morning noon afternoon evening night day week weekend month quarter year daily weekly monthly yearly
    quarterly annual before after early late earlier later open closed opening closing start begin end finish buy sell
    import export internal external inside outside male female father mother son daughter brother sister husband wife
    minimum maximum min max old new former arrive depart arrival departure win lose hot cold high low
    small large big little cat dog horse cow goat sheep pig chicken duck bird fish rye wheat barley oat corn rice apple
    pear cherry plum grape coffee tea milk water beer wine juice breakfast lunch dinner wood steel glass plastic paper
    stone brass copper gold silver wool cotton car bus train tram plane boat ferry van truck lorry bike bicycle
    break repair fix mend hire fire dismiss lend borrow send receive increase decrease raise reduce add remove
    accept reject approve deny invite attend miss pass fail
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag montags dienstags mittwochs donnerstags
    freitags samstags sonntags januar februar märz mai juni juli oktober dezember frühling herbst sommer grün blau gelb
    schwarz weiß morgens mittags abends nachts vormittags nachmittags täglich wöchentlich monatlich jährlich öffnen
    schließen geöffnet geschlossen kaufen verkaufen mieten frühstück mittagessen abendessen
    lunes miércoles jueves viernes sábado sábados domingo domingos enero febrero abril mayo junio julio agosto
    septiembre octubre noviembre diciembre otoño invierno rojo amarillo azul izquierda derecha semanal mensual abrir
    cerrar comprar vender desayuno almuerzo
    lundi mardi mercredi jeudi vendredi samedi dimanche janvier février avril juin juillet août septembre octobre
    novembre décembre automne rouge vert jaune hebdomadaire mensuel annuel ouvrir fermer acheter vendre louer
    janeiro fevereiro maio junho julho setembro outubro novembro dezembro outono inverno vermelho amarelo direita mensal
    fechar alugar almoço jantar
    """
)

CALENDAR_WORDS = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
    sundays january february march april may june july august september october november december jan feb mar apr jun
    jul aug sep sept oct nov dec easter christmas spring summer autumn winter
    """
)

# Irregular word forms and their base forms.
IRREGULAR_FORMS = {
    form: base
    for base, forms in {
        "use": "used uses using", "agree": "agreed",
        "hold": "held", "give": "gave given", "write": "wrote written", "sell": "sold", "buy": "bought", "pay": "paid",
        "build": "built", "keep": "kept", "leave": "left", "make": "made", "take": "took taken", "tell": "told",
        "find": "found", "meet": "met", "win": "won", "lose": "lost", "draw": "drew drawn", "grow": "grew grown",
        "know": "knew known", "see": "saw seen", "go": "went gone goes", "come": "came", "get": "got gotten",
        "say": "said", "run": "ran", "begin": "began begun", "break": "broke broken", "bring": "brought",
        "catch": "caught", "choose": "chose chosen", "drive": "drove driven", "eat": "ate eaten", "fall": "fell fallen",
        "feel": "felt", "fly": "flew flown", "forget": "forgot forgotten", "hear": "heard", "lead": "led",
        "lend": "lent", "mean": "meant", "ring": "rang rung", "send": "sent", "show": "shown", "shut": "shut",
        "sing": "sang sung", "sit": "sat", "sleep": "slept", "speak": "spoke spoken", "spend": "spent",
        "stand": "stood", "steal": "stole stolen", "swim": "swam swum", "teach": "taught", "think": "thought",
        "throw": "threw thrown", "understand": "understood", "wear": "wore worn", "child": "children", "man": "men",
        "woman": "women", "foot": "feet", "tooth": "teeth", "mouse": "mice", "goose": "geese", "person": "people",
        "bear": "bore borne", "hide": "hid hidden", "rise": "rose risen", "sink": "sank sunk", "drink": "drank drunk",
        "cancel": "cancelled cancelling", "travel": "travelled travelling", "label": "labelled labelling",
        "model": "modelled modelling", "fuel": "fuelled fuelling", "refuel": "refuelled refuelling",
    }.items()
    for form in forms.split()
}  # fmt: skip
