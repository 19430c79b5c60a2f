"""Questions in Japanese and Chinese, which put no blanks between words: patterns over a whole sentence. Pure."""

from __future__ import annotations

from typing import Literal

from engine.text.patterns import compile_late

_SCRIPT = compile_late(r"[\u3040-\u30ff\u3400-\u9fff]")
_KANA = compile_late(r"[\u3040-\u30ff]")

_TITLED = compile_late(
    r".{1,8}?(?:さん|くん|君|ちゃん|様|先輩|先生|部長|課長)(?![はがのにもをとでへやかっ]|から|まで|って|だけ|より)"
)
_INFORMING = compile_late(
    r"教え|まとめ|要約|説明|見せ|示し|挙げ|列挙|訳し|翻訳|調べ|探し|告诉|解释|说明|总结|列出|介绍"
)
_REQUESTS = compile_late(r"て(?:もら|いただ|くれ|くだ|下さ|ほし|おい|ね$)|お願い|頼む|頼み|手伝")
# Begins a request, or says what its author wants: "show me the blue one"; not "the invitation", "a day off".
_WANTS = compile_late(
    r"^(?:不是|不对|错了|其实)?(?:请(?![假柬帖款客的])|帮我|给我|再[给找看查]|我(?:要|问)的|我(?:想要|需要))"
)
# Behind such a beginning, says something of a thing, or what somebody said: "the key that I need is with Ilse".
_WANTED_IS = compile_late(
    r"(?!.{0,99}的$)[^的]{0,60}的"
    r"(?:是.{0,60}[他她]们?说|(?![是在]).{1,60}?(?:(?<!还)是|(?<![现正存所])在|已经|了$|\d[\d.,:]{0,9}(?:欧元|美元|[元块欧点%])$))"
)
# Nothing but a time, a date, or an amount.
_VALUE = compile_late(
    r"(?:(?:今週|来週|这周|下周|今月|来月|今天|明天|后天|今日|明日)の?)?"
    r"(?:[月火水木金土日]曜日?の?|(?:周|星期)[一二三四五六日天])?(?:午前|午後|上午|下午)?"
    r"(?:[\d一二三四五六七八九十两][\d一二三四五六七八九十.,:]{0,9}(?:時|分|月|日|年|円|ユーロ|ドル|つ|個|点|号|元|欧元|个|半)?半?){0,4}"
    r"(?:から|まで)?"
)
_INVITES = compile_late(
    r"ましょう|ようか$|行きません|行かない|しません|しない$|飲みに|食べに|みんな|皆さん|みなさん|誰か(?!$)|あなた|君[はが]|お前|"
    r"大家|我们(?:去|一起)|一起|一緒に|要不要"
)
_RETORTS = compile_late(
    r"(?:え+っ?|へ+え?|ああ?|お)?(?:そう(?:なの|なん|でし)?(?:です|た)?か?(?:ね|な)?|(?:本当|ほんと|ほんとう|マジ|まじ)(?:に|で|です)*か?|"
    r"大丈夫(?:です)?か?|いい(?:です)?か?|何|なに|え|は|ね|でしょ|なるほど(?:ね|です)?|是吗|真的吗?|真的假的|对吗|好吗|对吧|什么|行吗)"
)
_LAUGHS = compile_late(r"(?:笑|草|ｗ|w|哈)$")
_THANKS = compile_late(
    r"(?:どうも|本当に|ほんとに|とても|すごく|いつも|大変|めっちゃ)*"
    r"(?:ありがとう?|サンキュー|あざす|感謝(?:です|します)?|助か(?:ります|りました|る|った)|どうも)"
    r"(?:ございま(?:す|した))?(?:です)?(?:ね|よ)?"
    r"|(?:まさに|ちょうど)?(?:これ|それ)(?:です|でした|だ)(?:ね)?|ばっちり(?:です)?|(?:了解|承知)(?:です|しました|いたしました)?|(?:わか|分か)(?:りました|った)|なるほど(?:です)?ね?|おっけー?|オッケー"
    r"|お疲れ(?:様|さま)?(?:です|でした)?|最高(?:です)?|天才|神|素晴らしい|すばらしい|すごい(?:です)?ね?|いい(?:です)?ね|さすが(?:です)?ね?|完璧(?:です)?|おやすみ(?:なさい)?"
    r"|(?:それだけ|これだけ|それが)(?:知りたかった|聞きたかった|で十分|分かれば(?:十分|いい))(?:です|んです)?|(?:もう|これで|それで)?十分(?:です)?|もう大丈夫(?:です)?|(?:これ|それ)で(?:十分|足ります|大丈夫)(?:です)?"
    r"|(?:よい|良い)(?:週末|一日|夜|お年)を(?:お過ごしください)?|問題(?:ない|ありません)(?:です)?(?:ね|よ)?"
    r"|[笑草wｗ]+|谢谢(?:你|您|大家)?了?|多谢|感谢|好的|好吧|明白了?|收到|知道了|辛苦了|晚安|太好了|厉害"
)
_GREETINGS = compile_late(
    r"こんにち[はわ]|こんばん[はわ]|おはよ(?:うございます|う)?|(?:はじ|初)めまして|やあ|もしもし"
    r"|[你您]好|大家好|早上?好?|晚上好"
)
_CLOSED = compile_late(
    r"(?:の|いくら|いつ|どこ|誰|だれ|何|なに|なぜ|なんで|どれ|どちら|どっち|どう)$"
)  # "誰が決めたの"
_STATED = compile_late(
    r"(?:よね|だね|ですね|じゃん|でしょ|というか|とか|しか|いつか|どこか|なにか|何か|そうか|ものか|[よこそとのぼもろおご]うかな?)$"
)
_GUESSED = compile_late(r"(?:でしょう|だろう)かな?$")
_ENDINGS = compile_late(r"(?:か|かな|かね|かしら|っけ|吗|呢|么|没有)$")
_INTERROGATIVES = compile_late(
    r"いつ(?!も|か)|どこ(?!か|も)|だれ(?!か|も)|誰(?!か|も)|何(?!か|も)|なに(?!か|も)|なぜ|なんで|どう(?!も|か|ぞ|せ)|どれ|どの|どちら|どっち|"
    r"いくら|いくつ|どんな|什么|哪|谁|几[个点天号时次月年]|多少|多久|多长|怎么|怎样|为何|何时|是否|是不是|有没有|能不能|可以吗"
)

_STATED_FORMS = compile_late(
    r"(?:です|ます|でした|ました|である|だ|た|ている|てある|てる|ません|ない)(?:よ|ね|よね|から|ので|そうです|らしい)?$|(?:済み|完了|中止|延期|変更|終了|決定)$|[是为在]|改(?:为|到|成)|已经|不再|搬到"
    r"|(?<![\u3040-\u30ff])了$"
)
# Says what does not succeed: a call for help. Behind a topic it tells what cannot be done.
_STUCK = compile_late(
    r"(?:(?:分か|わか|判)(?:らない|りません)|忘れ(?:た|ました|てしまった|ちゃった)|(?:見つか|つなが|繋が)ら(?:ない|なくて)"
    r"|(?:見つか|つなが|繋が)りません|困って(?:いる|います|る|ます)|找不到|打不开|登不上|登录不了|忘了|不知道)"
)
_FAILS = compile_late(
    r"(?:でき|出来|開け|開か|入れ|動か|届か|使え|映ら|され|見られ|見え)(?:ない|なくて|ません)|(?:動き|開き|届き)ません"
)
# "AがBする" says what somebody does; with "still" and "already" it is mostly asked.
_SUBJECT_AND_VERB = compile_late(r"が(?!ある$|いる$).+[るくすうむぶぐつぬ](?:よ|ね)?$")
_STILL = compile_late(r"まだ|もう(?!.*ません$)")


def states_unspaced(sentence: str) -> bool:
    """Whether it has the ending of a statement and no word that asks."""
    if _INTERROGATIVES.search(sentence) or _CLOSED.search(sentence):
        return False
    if _STUCK.search(sentence) or ("は" not in sentence and _FAILS.search(sentence)):
        return False
    if _STATED_FORMS.search(sentence):
        return True
    return bool(_SUBJECT_AND_VERB.search(sentence)) and not _STILL.search(sentence)


def names_value(sentence: str) -> bool:
    """Whether it is nothing but a time, a date or an amount, which corrects another one."""
    return bool(_VALUE.fullmatch(sentence))


def is_unspaced(sentence: str) -> bool:
    """Whether a sentence is written in such a script."""
    return bool(_SCRIPT.search(sentence))


def is_unlearned(text: str) -> bool:
    """Whether a text is written in Chinese, of which there are no examples to learn from."""
    return is_unspaced(text) and not _KANA.search(text)


def classify_unspaced(
    sentence: str, *, asks: bool, interrupted: bool
) -> Literal["question", "unclear", "chatter", "others"]:
    """What a sentence without its marks is, as in `follow_up.classify`; `asks`: it ends with a question mark."""
    if _RETORTS.fullmatch(sentence) or _LAUGHS.search(sentence):
        return "chatter"
    informs = bool(_INFORMING.search(sentence))
    if _INVITES.search(sentence) or (not informs and _REQUESTS.search(sentence)):
        return "others"
    if not informs and "你" in sentence and not _KANA.search(sentence):
        return "others"
    ends_as_question = bool(_ENDINGS.search(sentence)) and not (
        _STATED.search(sentence) and not _GUESSED.search(sentence)
    )
    closes = asks or not _KANA.search(sentence) or bool(_CLOSED.search(sentence))
    wondering = bool(_INTERROGATIVES.search(sentence)) and closes
    requests = _wants(sentence) or (informs and bool(_REQUESTS.search(sentence)))
    if ends_as_question or wondering or requests:
        return "question"
    return "question" if asks and not interrupted and not _STATED.search(sentence) else "unclear"


def _wants(sentence: str) -> bool:
    """Whether it begins with a request, or with what its author wants, and says nothing of that."""
    found = _WANTS.match(sentence)
    return found is not None and not _WANTED_IS.match(sentence, found.end() - found[0].endswith("的"))


def calls_somebody(sentence: str) -> bool:
    """Whether it begins with somebody's name and title, and does not speak about them."""
    return bool(_TITLED.match(sentence))


def is_unspaced_thanks(sentence: str) -> bool:
    """Whether it is nothing but thanks, praise or consent."""
    return bool(_THANKS.fullmatch(sentence))


def is_unspaced_greeting(sentence: str) -> bool:
    """Whether it is nothing but a greeting."""
    return bool(_GREETINGS.fullmatch(sentence))
