"""Small talk in six languages; and messages that are as short, but say something."""

from __future__ import annotations

import pytest

from engine.text.conversations.small_talk import is_small_talk, is_small_talk_chunk

SMALL_TALK = """
hi | Hi all! | hey there :) | Good morning everyone ☀️ | GOOD MORNING | good night folks | thanks | Thanks!!!
Thank you so much 🙏 | thanks a lot, team | Many thanks again | no worries | np | You\u2019re welcome! | haha
hahaha 😂 | lol | LOOOL | 😂😂😂 | 🎉 | :tada: | congrats! | Congratulations everyone 🎉🎉 | well done team
Great job, all! | awesome | wow, amazing | sorry, my bad | oops | have a nice weekend everyone!
Happy Friday :tada: | see you! | bye bye 👋 | cheers | Ada Okonkwo joined the channel. | Ben has left the server
Call ended | This message was deleted | Hallo zusammen! | Moin | Guten Morgen allerseits 😊 | danke
Danke euch allen! | Vielen Dank!! | herzlichen Dank 🙏 | Gern geschehen | Mahlzeit | Schönen Feierabend zusammen
super, danke! | toll | Schönes Wochenende 👋 | Alles Gute zum Geburtstag! 🎂 | Kein Problem | Bonjour à tous !
Salut | coucou tout le monde | Merci beaucoup 🙏 | merci à toutes et à tous | De rien | bravo !! | bonne soirée
félicitations 🎉 | Bon appétit | mdr | Bonne journée à tous | Désolée ! | ¡Hola a todos! | Buenos días 😊
muchas gracias | De nada | jajaja | ¡Felicidades! 🎉 | buen fin de semana a todos | nos vemos
¡Enhorabuena equipo! | lo siento | Qué tal | Oi pessoal | Bom dia! ☀️ | boa noite gente | obrigada
Muito obrigado 🙏 | valeu | kkkkk | rsrsrs | parabéns!! | tchau 👋 | por nada | おはようございます！ | こんにちは
お疲れ様です。 | ありがとうございます😊 | おめでとうございます🎉 | よろしくお願いします。 | 笑笑 | wwww
すみません
"""
# Each states, asks or agrees to something, or may do so where it stands.
FACTS = """
ok | yes | no | yep | +1 | 👍 | ✅ | ❌ | :white_check_mark: | sure | done | agreed | tomorrow | morning | at noon
3pm | 42 | nope | me | everyone | all | team | guys | there | again | perfect, 9:30 then | see you tomorrow
see you at 5 | legal team | Legal | Paris | Ada | thanks Ada | Happy birthday Ben!
Congrats to Mira on the promotion | Welcome Otto | Good morning Oslo office | thanks for the invoice
thanks, received | thanks, paid | hi, is the server down? | hello, I quit | sorry, I am ill | sorry, late
oops, wrong branch | oops, deleted it | haha it crashed | lol prod is down | great, it works | awesome, shipped
nice, merged | bye, on leave until May | good night, back Monday | cheers, Leo | Happy Friday, no deploys
have a nice weekend, I am off | hi all, lunch at 12 | good morning, standup is cancelled | wow 400 users
well done Kiel team | Great job on Atlas | congrats, we won | no problem, moved it | my bad, the key expired
How are you getting there? | get well soon, Ines | Ada left the company | Ada joined the team | Ada joined
Mira left the group | He left | Ben joined the board | call at 5 | call cancelled | the call started late
message deleted by Ada | Atlas v2 | deploy failed | build #77 passed | it's Tuesday | yes thanks | no thanks
thanks, no | ok thanks | sure, thanks | done, thanks! | thanks 👍 | https://example.org | report.pdf | #general
@ada | $5 | 100% | -1 | v1.2 | 127.0.0.1 | RIP | EOD | WFH | OOO | brb | afk | lunch | fire | help | urgent | same
ill | Ja | Nein | Doch | Morgen | heute | Montag | um zehn | erledigt | passt | genau | klar | einverstanden
bis morgen | alle | Leute | Danke, bezahlt | Danke Jana | danke, ist da | Hallo, Server steht
Guten Morgen, ich bin krank | Moin, heute Homeoffice | Super, läuft wieder | toll, verkauft
Schönen Feierabend, bis Montag | Kein Problem, verschoben | Glückwunsch an Lena | Alles Gute zum Geburtstag, Tim
Mahlzeit um 12 | entschuldigung, falscher Raum | gute Besserung, Jonas | Urlaub ab Freitag | Oui | Non | Demain
lundi | à midi | c'est fait | d'accord | fini | Merci Luc | merci, reçu | Bonjour, le serveur est tombé
Salut, je suis malade | Désolé, en retard | Génial, ça marche | Bravo Inès | bonne journée, absent demain
à demain | Lyon | De rien, c'est payé | Félicitations pour Atlas | bon week-end, retour mardi | Bonsoir, panne
tout le monde | encore | pas moi | Sí | No | Mañana | el lunes | a las tres | hecho | de acuerdo | vale | listo
Gracias Pablo | gracias, pagado | hasta mañana | Hola, el servidor cayó | Buenos días, estoy enferma
Perdón, tarde | genial, funciona | Felicidades Lucía | todos | equipo | De nada, ya lo envié
Lo siento, se rompió | buen viaje a Lima | Qué tal la reunión | nos vemos el martes | Madrid | yo | Sim | Não
Amanhã | segunda | às dez | feito | combinado | fechado | pronto | Obrigado, Rui | obrigada, recebi | até amanhã
Oi, o servidor caiu | Bom dia, estou doente | Desculpa, atrasei | Ótimo, funcionou | Parabéns, Ana | pessoal
gente | Lisboa | Valeu, paguei | por nada, enviei | boa viagem ao Porto | tudo bem com o deploy?
bom descanso até terça | eu | nós | はい | いいえ | 明日 | 月曜 | 10時 | 完了 | 了解 | 承知しました | また明日
田中さん | ありがとう、届きました | おはよう、今日は休みます | お疲れ様です。サーバーが落ちました
すみません、遅れます | すごい、動いた | おめでとう、佐藤さん | 東京 | 皆さん | 私です | 対応済み
こんにちは、会議は3時です | お先に失礼します、明日は在宅 | よろしくお願いします、田中です | 行きます | 欠席
大阪支社 | 無理です
"""


def split(listed: str) -> list[str]:
    return [part.strip() for part in listed.replace("\n", "|").split("|") if part.strip()]


def test_nothing_with_a_fact_is_small_talk() -> None:
    facts = split(FACTS)
    assert len(facts) > 240
    assert [fact for fact in facts if is_small_talk(fact)] == []


def test_most_small_talk_is_recognized() -> None:
    known = split(SMALL_TALK)
    assert [part for part in known if not is_small_talk(part)] == []


@pytest.mark.parametrize(
    ("text", "idle"),
    [
        ("[2026-05-18 09:20] Ada: Good morning!\n[2026-05-18 09:21] Ben Ito: hi all 👋", True),
        ("[2026-05-18 09:20] Ada: thanks\nhaha", True),
        ("[2026-05-18 09:20] Ada: thanks\nthe mill burned down", False),
        ("[2026-05-18 09:20] Ada: hi\n[2026-05-18 09:21] Ben: Where is the key?", False),
        ("[2026-05-18 09:20] Build: note: thanks", False),
        ("Hello", True),
        ("", False),
    ],
)
def test_a_conversation_is_small_talk_if_all_its_messages_are(text: str, *, idle: bool) -> None:
    assert is_small_talk_chunk(text) == idle
