"""Whether a reply gives up is told from what the model says of itself, not from what a picture or text quotes."""

from __future__ import annotations

import pytest

from engine.llm.wire.apologies import apologizes, gives_up

GIVES_UP = """
I can't see the image. | I cannot view pictures directly. | I'm not able to open attachments. | I'm a text-only model.
As a text-based assistant I have no eyes. | It seems no image was provided. | Unfortunately, I can't make out the photo.
I don't have the ability to look at pictures. | I do not see any image here. | The image did not load on my side.
Could you please upload the picture again? | Sure! Please share the image. | I apologize, that is beyond me.
The picture could not be opened. | No image provided. | I can only read text. | You forgot to attach the photo.
There's no picture attached. | Image input is not supported here. | Es wurde kein Bild hochgeladen.
Leider liegt mir kein Bild vor. | No se adjuntó ninguna imagen. | Nenhuma imagem foi recebida.
Das Bild kann ich leider nicht sehen. | Leider kann ich keine Bilder öffnen. | Ich sehe hier kein Bild.
Ich kann dieses Foto nicht erkennen. | Als Sprachmodell fehlen mir Augen. | Könnten Sie mir bitte das Bild schicken?
Je ne peux pas voir l'image. | Désolé, cela dépasse mes moyens. | Je ne vois pas d'image ici.
No puedo ver la imagen. | Lo siento, no es posible. | No tengo acceso a la imagen. | Como modelo de lenguaje, no veo.
Não consigo ver a imagem. | Desculpe, não dá. | Não tenho acesso a imagens. | Infelizmente não vejo nada.
画像を見ることができません。 | 申し訳ありませんが、対応できません。 | 画像が添付されていません。
抱歉,我无法查看图片。 | 我看不到这张图片。
Mi dispiace, non posso riassumere questo testo. | Purtroppo non sono in grado di leggere il file.
Het spijt me, dat gaat niet. | Helaas kan ik dit niet lezen. | Niestety nie mogę pomóc.
Przykro mi, nie mogę tego zrobić.
Tyvärr kan jag inte hjälpa till.
Jeg kan desværre ikke læse teksten. | Üzgünüm, bu metni özetleyemem. | Maalesef bu metni okuyamıyorum, okuyamam.
К сожалению, я не могу обработать этот запрос. | Извините, но я не читаю картинок. | Пожалуйста, предоставьте текст.
На жаль, я не можу допомогти. | 죄송하지만 도와드릴 수 없습니다. | 텍스트를 제공해 주세요. | عذراً، لا أستطيع المساعدة.
[The summary of the text goes here] | [Insert summary here placeholder]
"""
TELLS = """
A sign says “I'm sorry, we are closed”. | A poster: "Desculpe, volto já". | The image shows a mill at a weir.
I can see a mill, and a heron on its roof. | No heron is visible at the weir. | Ein Bild der Mühle, nicht scharf.
Das Bild zeigt eine Mühle. | Une affiche : « Désolé, fermé ». | As a text editor it opens large files quickly.
A text-based menu with four entries. | Como modelo de costes se eligió el anual. | 画像には水車小屋が写っています。
Ада говорит, что, к сожалению, мельница закрыта. | Purtroppo il mulino è chiuso fino a marzo.
Helaas kan het rad niet draaien. | Bob skriver att jag kan inte komma. | Maalesef köprü kapalı.
Простите, я у мельницы. | Non posso aprire il mulino prima di marzo, scrive Ada.
[Ada moved the meeting, and the heron is here] | Ада просит: «пришлите счёт за колесо». | Przepraszam za spóźnienie.
Désolé pour le retard, écrit Jean : la roue arrive jeudi. | Het spijt me, schreef Ada, de brug blijft dicht.
Mi dispiace, ha scritto Ada, il ponte è chiuso. | Não consigo abrir o portão, disse Ada; Rolf tem a chave.
抱歉,橋要到五月才開放,阿達寫道。
The miller cannot see the river from the attic. | No image of the weir survives. | La imagen muestra un molino.
"""


def list_texts(lines: str) -> list[str]:
    return [text.strip() for text in lines.strip().replace("\n", "|").split("|")]


@pytest.mark.parametrize("text", list_texts(GIVES_UP))
def test_a_model_that_sees_nothing_gives_up(text: str) -> None:
    assert gives_up(text)


@pytest.mark.parametrize("text", list_texts(TELLS))
def test_a_description_is_none(text: str) -> None:
    assert not gives_up(text)


def test_only_the_beginning_of_a_short_reply_is_an_apology() -> None:
    late = "The weir was built by the guild, which later said in a letter to all members: I'm sorry"
    assert not gives_up(late)
    assert not gives_up("I'm sorry. " * 100)
    assert apologizes("I'm sorry. " * 100)
