"""Messages to the bot are questions unless they clearly tell it something; every rule decides alone."""

from __future__ import annotations

import pytest

from bot.text.speech.addressed import classify_addressed

BOT = "<@B1>"
SPEECH = """
question: who builds the fence? | gate code | price of the pump | the price of the pump | what about Monday?
question: list the error codes | tell me about the roof | summarize the thread | I need the link to the runbook
question: I can't find the runbook
question: I am looking for the onboarding document | and the deadline
question: meeting minutes where the budget was discussed | everything that is known about the ferry
question: who decided that
question: when does the pool open | update on the roof | note on the pricing from Monday | is the archive open
question: can you tell me who pays
question: show me the minutes of Tuesday | translate the notice | documents shared yesterday
question: remind me who signs | do you remember who signs
question: what changed since May | explain how the pump works | no idea who pays, do you know?
question: der Preis der Pumpe | wann kommt das Dach
question: Preis der Pumpe | fasse den Kanal zusammen | wer hat das entschieden | ich suche das Protokoll
question: el precio de la bomba
question: quién firma | le prix de la pompe | résume le fil | o preço da bomba | quem assina
question: le tarif du four s'il te plaît | l'adresse du moulin s'il vous plaît | Preis der Mühle bitte
question: der Entwurf den Lena gezeichnet hat | die Mail die Jonas mir geschickt hat
question: 締め切りはいつですか | ポンプの値段 | 要点をまとめてください | 泵的价格是多少 | the fence?
question: so what is the plan | hey, who has the key | find the invoice of Nagel | compare the two offers
question: wifi password
question: latest on the merger | steps to reset the router | how to reset the router | why the pump failed
question: status of the migration
question: did the vote pass | anything new on the roof | what I asked yesterday | Does Brandt still build it
question: draft a reply to Ada
question: Ada's phone number | the one who signed the lease | I'd like to know who signs | need the vpn address
question: where is it that we keep the keys
question: il me faudrait le plan du hangar
statement: resulta que el toldo era de otro
question: was hat das Team zum Umzug entschieden | oye, donde guardamos las cintas | cuando llega el pedido
statement: fyi the electrician rings at noon | heads up, no water on Friday | zur Info, Anlieferung nur noch über Tor 2
statement: pour info, plus de café au deuxième | para que lo sepas, hoy sin ascensor | só para avisar, reunião às dez
statement: don't forget: boots on the roof from Monday | vergiss nicht, Montag ist Inventur
statement: no te olvides, el lunes hay visita | n'oubliez pas : badge obligatoire | não esqueçam: crachá obrigatório
statement: 鍵を忘れないで、玄関は7時に閉まる
statement: ちなみに駐車場は満車です | das stimmt so nicht, der Kurs findet im Saal statt
statement: ce n'est plus le cas, la cave appartient au voisin | the courier comes on Tuesday
statement: no, the fence is built by Brandt since yesterday | remember: the gate code is 4711
statement: the gate code is 4711 | remember that the gate code is 4711 | remember the gate code is 4711
statement: FYI we moved the release to 7 May | we moved the release to 7 May
statement: note: the pump costs 480 euros now | that's outdated: Brandt builds it now
statement: that's wrong, Brandt builds it
statement: actually it's Brandt | Brandt builds it since yesterday | The ferry leaves at seven now.
statement: the office is closed on Friday | correction: the price is 490
statement: from Monday on the office is closed | nein, der Zaun wird von Brandt gebaut | der Torcode ist 4711
statement: merk dir: der Torcode ist 4711 | wir haben den Termin auf Montag verschoben
statement: no, la valla la construye Brandt | recuerda: el código es 4711 | el código de la puerta es 4711
statement: non, c'est Brandt qui la construit | retiens que le code est 4711
statement: le code du portail est 4711 | não, quem constrói é o Brandt | lembre-se: o código é 4711
statement: o código do portão é 4711 | 門のコードは4711です
statement: いいえ、ブラントが建てます | 覚えて：門のコードは4711
statement: 密码是4711 | 不对，是布兰特 | please note that the meeting starts at nine
statement: keep in mind: guests need a badge | Ada has the key | She lives in Lyon now
statement: The price was changed to 40 euros. It is valid from May. | heads up: the server moves on Sunday
statement: hall 7/8 now | ab jetzt Halle 7/8 | agora mesa 12 | desde hoy mesa 12 | désormais quai 12
statement: postponed to May | vertagt auf Mai | reporté à mai | aplazado a mayo | adiado para maio | 五月に延期
statement: sent, the crate is with Ilse | verschickt, Kiste bei Ilse | not 30 but 35 lamps
statement: nicht 30, sondern 35 Lampen
statement: Rolf, not Ralf | Rolf statt Ralf | c'est Rolf, pas Ralf | Rolf en vez de Ralf | lamps ordered today
statement: Dach heute repariert | faltan dos lámparas | two crates missing | von Ilse unterschrieben
statement: 塔が壊れた、修理中 | いいえ、木曜 | 違う、490ユーロ | いや、木曜日の3時 | 不对，周四 | 其实是周四
question: peux-tu chercher le bail | as-tu le bail | avez-vous le bail | dois-je signer le bail | salut, as-tu le code
question: le maçon a-t-il fini le mur | à quelle heure Krone passe-t-il lundi
question: doit-on payer le loyer | doit-on fermer le portail à 18h | a-t-elle réparé la pompe lundi
question: 違う、青い方を見せて | 違います、もう一度探して | いや、別のマニュアルを教えて | いや、鍵を持ってる人
question: 違う、保証の話 | いいえ、要約してください | 違う、もっと短く | 不对，再找一次 | 其实我要蓝色的泵
question: sabe Berta el código | ha cambiado Berta la cerradura | puede Berta abrir la nave | abre la nave los domingos
question: trocou a Berta a fechadura | pode a Berta abrir o galpão | já chegou a carta | abre o galpão aos domingos
statement: tiene razón Berta | firmó Berta ayer | ya llegó la carta | funciona perfectamente la nave | puede que llueva
statement: tem razão a Berta | assinou a Berta ontem | já chegou a carta hoje cedo | funciona muito bem o galpão
statement: 我要的灯泡昨天到了 | im Keller fehlen drei Eimer
statement: 给我的报价是490欧元 | 给我们的钥匙是4711 | 我需要的钥匙在伊尔莎那里 | 我要的泵已经到了
statement: 帮我修屋顶的人是克罗内 | 我问的是克罗内，他说490欧元 | 请柬已经寄出了 | 请款单在伊尔莎那里
statement: 再看房子的人是伊尔莎 | 不对，下午三点 | 不对，明天 | 違う、来月 | 違う、二つ
question: 请把昨天的方案发给我 | 帮我找现在的合同 | 请给我昨天的在线表格 | 不对，我要的是蓝色的泵
question: 不是，给我看蓝色的 | 不对，我问的是泵
question: closed gates of the mill | moved crates | ordered by whom | price of crate 4 now | and gate 4 now
question: 5 rooms of the mill
question: anything heard about the tower | das gleiche für Mai bitte | the same for May | lo mismo para mayo
question: il manque quelles lampes
question: règles du hall, surtout le soir | dos reglas, una frase cada una | laquelle est la plus grande
question: crates missing
question: invoice | Quellen | Q3 numbers | are you sure | payroll | Urlaub | llave | salário | délais | 郵便受け
question: thanks but who pays | danke aber wer zahlt | merci mais qui paie | gracias pero quién paga
question: obrigado mas quem paga | ありがとう、価格は | ありがとう、誰が払う
question: I don't understand the new pricing | je ne comprends pas le nouveau tarif | tô com problema na impressora
question: プリンターが動きません | count the tickets closed in May | Ich hab ein Problem mit dem Drucker
question: My laptop won't connect to the wifi | j'ai un souci avec l'imprimante | tengo un problema con la impresora
statement: The customer called | mañana no vengo | wfh today | 今日は在宅です
introduction: hi there, how are you
thanks: great, that's all I wanted | super, das reicht mir | parfait, c'est tout | genial, con eso basta
thanks: 十分です、ありがとう
introduction: what sort of questions can I ask you | was kann man dich fragen | o que posso te perguntar
introduction: どんな質問ができる
thanks: muito bom | thanks for the list of keys | ideal, gracias a todos | ok, genau das Bild | それです、助かりました
question: es cierto que el lunes no abrimos | is it true that the pool is shut | price of the pump, thanks
statement: quick correction, two rooms are free | die Schilder hängen und stehen ab heute im Hof
statement: jot down: the ladder is at Hob's
thanks: you're a lifesaver | du bist klasse, danke | t'es trop fort | eres genial | você é incrível | 天才！
thanks: génial, merci | valeu, ajudou! | kkkkk | www | どうもありがとうございます | 承知しました | gute Nacht
question: no, I meant the other lamp | nein, ich meinte die von 2025 | non, je voulais celui de mai
question: no, quería la de mayo | não, eu queria a de maio
statement: no, I meant Rolf, not Ralf | Ilse's off sick today | Rolf's away until May | no more lamps | plus de farine
statement: keine Lampen mehr | we're out of flour | no, we need nine lamps
statement: nein, wir wollten am Freitag backen | no, we wanted to paint it green | non, on voulait partir à 9h
question: no, we need the other key | nein, ich will die andere Liste | no, I wanted to ask about the kiln
question: plus de photos du four | no more than how many lamps fit
statement: merci de noter que le four est froid | o contrato da granja acaba em maio
thanks: nickel, c'est ce qu'il me fallait | great, exactly what i needed | era isso que eu precisava
question: o que rolou ontem na granja | o que aconteceu no pátio
question: Ilse's back door key | plus d'infos sur le four
thanks: thanks! | great, thank you | 👍 | danke dir | ok cool
statement: Ilse drove the tractor home | the barn lost its roof | our baker sells the loaves cold
statement: The harvest ended yesterday. | heute brennt die lampe | Rolf streicht den Zaun
statement: la forja calienta el patio | el grifo gotea | los niños cantan hoy | ayer se cayó la torre
statement: les vaches mangent dehors | Paul nettoie la grange | l'horloge n'avance plus | on n'a plus de bois
statement: a Rita pintou o muro | os barcos voltam amanhã | já não vendemos mel | a bomba não funciona
statement: please don't open the hatch | bitte nicht klingeln | 橋が壊れた | 花子が鍵を持ってくる | 橋は直りました
statement: Ilse left. The barn is open at 5. | we will need two days | as of today we bake at six
question: The ladder for the Nord barn. | Le code de la cave. | Every key of Ilse. | Der Schlüssel zum Stall.
question: I can't open the shed | ich kann die Kasse nicht öffnen | no encuentro el taladro | não consigo ligar o forno
question: necesitamos la llave del patio | je n'arrive pas à entrer | don't forget list | das Bild vom Stall
question: 鍵が見つからない | 門が開かない | 暗証番号を忘れた | 使い方がわかりません | 印刷できない
statement: das Tor klemmt wieder | no abrimos el lunes | 月曜は印刷できない
question: ok and what was my plan | well, what problem | no, what was it | sorry, have you my answer
question: letters they wrote to Ilse | o muro que a Rita pintou | die Kinder, mit denen Rolf gesungen hat
question: the thing Rolf said about the barn | the lamp our baker changed last week
statement: Paul dit que la grange est froide | Rita disse que o muro era alto
statement: please don't forget that we bake at 4 | our baker Rolf said that we bake at 4
thanks: ok have a lovely evening | gracias, qué bien | sorry, my bad
question: the ladders we sold | the state of the barn we rent | prices the baker gave after the harvest
question: the gates painted last week | les bons signés hier | das Bild, das Rolf gestern gemalt hat
question: the note Ilse gave us | minutes of the talk they held | list of the tools people took
question: the tiles the barn lost | honey for the market | loaves cold | towers of the old mill
question: the barn is open or not | der Zaun ist fertig oder nicht | Sunday class, who teaches it
question: broken since when | kaputt seit wann | Kosten des Zauns | Schlüssel im Stall | dame la lista del patio
question: pedidos de marzo | pago de la grúa en mayo | reçus de mai | hechos de la asamblea
question: prix de la grange | vaches du voisin | montre-moi la grange | muro pintado | preço do mel | 壊れた橋
question: Ich bräuchte die Nummer der Bäckerei. | Ilse left. I need her number. | Show me the loaves.
thanks: have a lovely evening | bonne soirée | schönes Wochenende | bom fim de semana | buen domingo | kein Problem
thanks: thanks, very helpful | merci, très utile | gracias, muy útil | sorry, my mistake | よい週末を
introduction: what can you do? | who are you? | how do you work? | help me | are you there?
introduction: hello | Moin! | bom dia | buenas tardes | おはようございます | good morning
introduction: tu es qui ? | que sabes hacer | para que você serve | was kannst du eigentlich? | 自己紹介してください
introduction: ? | test | what can you do for me? | was kannst du? | wer bist du?
introduction: qué puedes hacer? | que peux-tu faire ? | o que você pode fazer? | 何ができますか？ | 你能做什么？
introduction: help | hilf mir
question: actually what is the price of the pump | no, show me the second one | no, I meant the other pump
question: nah just give me the link | No idea who owns billing, please look it up | wrong channel, find the notes
question: no, try again | non, donne moi le lien | I forgot the gate code | I have a question about the pump
question: it would be great if you could list the codes | the question is who pays
"""
IN_PASSING = """
aside: @ is down again | the @ is stuck, odd | @ hängt schon wieder | le @ rame encore, pénible | o @ travou de novo
question: @ streikt die Fähre am Montag | @ hängt der Fahrplan noch am Tor
question: is @ down again? | @ もう一つ、鍵は | @ down payment for the mill
aside: I asked @ yesterday and it knew nothing | @ is really useful, try it | cc @ | fyi @
aside: did you know that @ can read files? | who pays for @ anyway? | should we let @ answer customers?
aside: according to @ the hall is free, can someone confirm? | I've invited @ to this channel | @ seems dead
aside: ich hab @ schon gefragt, weiß sonst jemand mehr? | alguien ha probado @ ya? | qui a ajouté @ ici ?
aside: segundo o @ já foi pago, alguém confirma? | @ を入れたの誰？ | questions for @ in #help please
question: @ summarise what <@U2> wrote in all channels
question: @ can finance see this channel | @ is down payment required | we lost the key. @ who has the spare?
question: does anyone know who has the key? @ maybe | @ resume lo de ayer | @ 昨日の話をまとめて
aside: cc @ please | Rolf, who pays? cc @ | can you sign it? cc @ | <@U2> who pays? cc @ | thanks everyone! cc @
aside: pregúntale a @, que conoce el horno | pregúntenle a @
aside: 田中さん、誰が払いますか？ cc @
question: Hi all, who has the key? cc @ | Team, when do we bake? cc @
question: Oi pessoal, quem paga? cc @ | 皆さん、鍵はどこ？ cc @
question: who pays? cc @ | does anybody know when we bake? cc @ | Weiß jemand, wer zahlt? cc @ | Qui paie ? cc @
question: ¿Quién paga? cc @ | Quem paga? cc @ | 誰が払いますか？ cc @ | need the gate code cc @
question: kann mir jemand den Plan schicken cc @ | je cherche le bail cc @ | lamp broken again, anyone mended it? cc @
statement: Lamp by the gate out of order until Monday. cc @ | Invoice to Rolf sent cc @ | Rechnung an Rolf raus. cc @
statement: Facture envoyée à Rolf. cc @ | Factura enviada a Rolf. cc @ | Fatura enviada para o Rolf. cc @
statement: Os sinos estão prontos. cc @ | ロルフへ請求書を送付済み cc @ | Fotos vom Hoffest (cc @)
statement: The minutes are out. cc @ | El acta está lista, cc @. | 議事録を送りました。cc @
aside: frag mal @, der kennt das | demande à @ | pregúntale a @ mañana | pergunta pro @ | @に聞いてください
aside: @ hat mir nichts gesagt | @ m'a donné trois réponses | @ no supo la respuesta | @ acertou de novo
question: @ is staging down | @ hat gestern jemand bezahlt | @ hat mir jemand geschrieben
question: @ hat uns der Vermieter geantwortet
aside: @ is useful | @ was down yesterday | @ has been slow today | @ is wrong a lot | @ hat mir gestern geholfen
question: so @ does the lift run | und @ wer zahlt das
aside: @ ist echt praktisch | @ couldn't tell me
question: ask for @: who pays? | question for @: who pays? | @は鍵の場所を知っていますか
question: What does @ know about Halden Ltd? | Was sagt @ zum Mietvertrag? | ¿Qué sabe @ de Halden?
question: Que sait @ sur Halden ? | O que o @ diz sobre o contrato? | @は監査について何と言ってる？
question: I wonder if @ can find the lease | I have a question for @ | J'ai une question pour @
question: Le pregunto a @: quién firma | What's @'s answer on the roof price? | @ va-t-on déménager
statement: cc @ the gate code is 4711 | fyi @ the office is closed on Friday | CC <@U2> @ der Torcode ist 4711
question: cc @ who pays?
statement: remember @: the gate code is 4711
question: who builds the fence, @? | can @ tell us who builds the fence? | hey @ who builds the fence
question: @ is the archive open | maybe @ knows who pays? | @
thanks: Thanks @!
"""


@pytest.mark.parametrize("line", SPEECH.strip().splitlines())
def test_a_message_that_begins_with_the_mention_is_answered_or_kept(line: str) -> None:
    verdict, _, texts = line.partition(": ")
    assert [classify_addressed(f"{BOT} {text}") for text in texts.split(" | ")] == [verdict] * len(texts.split(" | "))


@pytest.mark.parametrize("line", IN_PASSING.strip().splitlines())
def test_a_mention_in_passing_asks_nothing(line: str) -> None:
    verdict, _, texts = line.partition(": ")
    for text in texts.split(" | "):
        assert classify_addressed(text.replace("@", BOT)) == verdict, text


def test_nothing_is_said_in_passing_where_nobody_else_reads_it() -> None:
    assert classify_addressed(f"I asked {BOT} yesterday and it was wrong", is_direct=True) == "statement"


@pytest.mark.parametrize("text", ["no " * 40_000, "<@" * 50_000, "remember " * 20_000, "is " * 50_000])
def test_a_long_message_takes_no_long_time(text: str) -> None:
    classify_addressed(text)


@pytest.mark.parametrize("text", ["Who are you talking about?", "what are you waiting for?", "Who are you meeting?"])
def test_a_question_for_what_somebody_does_is_none_about_the_bot(text: str) -> None:
    assert classify_addressed(text, is_direct=True) == "question"
