"""Complete a follow-up question in a language without blanks. Pure."""

from __future__ import annotations

import re

_CONTINUATION = re.compile(r"\A(?:では|じゃあ|それで|で、|那么?|那)[、,]?")
_TOPIC_ALONE = re.compile(r"\A([^のをが\s、。]{1,30}?)(?:は|も|なら|だと)?(?:どう(?:です)?か?)?[？?]*\Z")
_ATTRIBUTE_OF = re.compile(
    r"\A(?P<subject>[^はがを、。]{1,30})の(?P<asked>[^のはがを、。？?]{1,15})(?:は|が|を|[？?]|\Z)"
    r"|\A(?P<object>[^はがを、。]{1,20})を(?P<act>[^はがを、。]{1,20}?(?:の|人|方|会社|部署)は(?:誰|だれ|どなた|どこ|いつ))"
    r"|\A(?P<topic>[^はがを、。]{1,30})(?:は|が)(?P<rest>[^？?]{1,40})"
)
_ATTRIBUTE = re.compile(
    r"(?:価格|値段|料金|費用|担当者?|責任者|期限|締め?切り?|日程|日時|時間|場所|住所|理由|番号|連絡先|電話|予算|保証|色"
    r"|サイズ|重さ|在庫|名前|リンク|状態)\Z"
)
# "犬は何匹？": what is asked of a topic, whose owner is left out.
_OWNERLESS = re.compile(
    r"\A[^のはが、。]{1,15}(?:は|が)(?:何[^\W\d_ぁ-ん]{0,2}|いくら|いくつ|誰|いつ|どこ|どれ)(?:まで|から)?"
    r"(?:です|でした|います|あります)?か?[？?]*\Z"
)
# "いくらですか？" asks on, and "駅にロッカーはありますか？" has its own topic: neither is a topic alone.
_PREDICATE = re.compile(r"(?:ます|ました|ません|です|でした|でしょう)か?\Z")
_OWN_TOPIC = re.compile(r"[^\W\d_](?:は|が|に|で(?!す)|も).")
_ASKS_ON = re.compile(r"(?:いつ|どこ|誰|だれ|いくら|いくつ|何時|何)(?:まで|から|ごろ|頃)?(?:です|でした)?か?\Z")
# "それは高いですか？" and "どこに置いてありますか？" mean what was spoken of.
_REFERS = re.compile(r"\A(?:それ(?!ぞれ|から|で|なら|とも|まで)|その(?!うち|まま|日|時|後|他)|そこ(?=[はがにでをへ]))")
_ASKS_WHERE = re.compile(
    r"\A(?:誰|だれ|どこ|いつ|いくら|何[^\W\d_ぁ-ん]{0,2})(?:が|に|で|から|まで|へ|を)(?:(?!で(?!す))[^はがをにの、。？?]){1,12}[？?]*\Z"
)


def strip_unspaced_continuation(text: str) -> str:
    """A text without a first word that continues: "では", "那么"."""
    return _CONTINUATION.sub("", text)


def complete_unspaced(question: str, former: str) -> str:
    """A topic alone ("プレス機は？") with what was asked before, an attribute alone ("担当は？") with its subject."""
    bare, before = strip_unspaced_continuation(question), _ATTRIBUTE_OF.match(former)
    asked = _TOPIC_ALONE.match(bare)
    if before is None:
        return question
    subject, predicate = (
        before["subject"] or before["object"] or before["topic"],
        before["asked"] or before["act"] or before["rest"],
    )
    is_ownerless = _OWNERLESS.match(bare) and before["subject"]
    if is_ownerless or _REFERS.match(bare) or _ASKS_WHERE.match(bare):
        return question if subject in question else f"{question} ({subject})"
    if asked is None or (_PREDICATE.search(asked[1]) and _OWN_TOPIC.search(asked[1])):
        return question
    asks_on = _ATTRIBUTE.search(asked[1]) or _PREDICATE.search(asked[1]) or _ASKS_ON.match(asked[1])
    carried = subject if asks_on else predicate
    return question if carried in question else f"{question} ({carried})"
