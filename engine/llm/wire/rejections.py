"""Tell from the words of a provider why it rejected a request. Pure.

Providers agree on no code and no status for it: money, settings and content all come as 400, 403, 422 or 429.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Collection

Cause = Literal["credit", "credentials", "key", "model", "settings", "content", ""]

RESPONSE_FORMAT, SYSTEM_ROLE, STREAM, ANY_PARAMETER = "response_format", "system", "stream", "*"
SERVER_ERRORS = 500  # the least status of them
MAX_ERROR = 100_000  # characters of an error that are read at all
MAX_READ = 4000  # characters of an error; some quote the whole request


def _any_of(*patterns: str) -> re.Pattern[str]:
    return compile_late("|".join(patterns), re.IGNORECASE)


_NO = r"(not|n.t|un)[ -]?"  # "is not supported", "doesn't support", "unsupported"
_CREDIT = _any_of(
    r"(credit|account) balance|requires? more credits|more credits are required|payment required|arrear",
    r"(insufficient|exceeded|out of|not enough|used all|no remaining|r[au]n out of)[\W_]+(\w+\W+){0,4}?"
    r"(quota|balance|credits?|funds)",
    r"(quota|credits?|balance)[ _](is |are |has been |have been )?(exhausted|used up|spent)",
    r"used up[\w ]{0,20} (quota|credits?|balance|funds)",
    r"insufficient_(quota|balance|credits)|token_quota_reached|your (current|daily|monthly) quota",
    r"billing[\W_]+(hard[\W_]+)?(limit|not[\W_]+active)|requires billing|billing to be enabled|in good standing",
    r"(check|enable|update) your (plan and )?(billing|payment)|(specified|monthly) (api )?usage limits?",
    r"(monthly )?spend(ing)?[ _]limit|key limit exceeded|(overdue|failed|failure of) payment|unpaid invoice|past due",
    r"(credits?|funds|prepayment|prepaid balance|free trial) (is|are|was|were|has|have)( been)? (all )?(now )?"
    r"(depleted|exhausted|used|consumed|spent|expired|ended|over)\b|\bno (more )?(credits?|funds) (left|remain)",
    r"(does not|doesn.t|do not|don.t|did not) have (any|enough|sufficient)? ?(credits?|funds|balance|quota)\b",
    r"(top|topping) up (your|the)|recharge (your|the|and)|(add|purchase|buy) (more )?(credits?|funds)\b",
    r"free[ _]tier\b.{0,40}\b(exhausted|used up|exceeded|over)\b|limited to [\d,.]+ [\w ]{0,20}(/|per|a) ?month\b",
    r"余额不足|欠费|额度(已)?(用尽|用完|耗尽|不足)|账户.{0,6}充值",
)
# A limit of the rate, although it may name a quota or the billing page.
_RATE = _any_of(
    r"per[ _-]?(minute|second)|retry (after|in) \d|(call|token|requests?) rate limit|\b[RT]PM\b",
)
_ALWAYS_CREDIT = _any_of(r"insufficient[ _](quota|balance|credits?|funds)|credit balance|余额不足|欠费")
_CREDENTIALS = _any_of(
    r"unable to locate credentials|nocredentials|could not (load|find|automatically determine) credentials",
    r"default credentials|defaultcredentialserror|reauthentication is needed|could not resolve (project|credentials)",
    r"failed to retrieve a token|azure ad token|credentials? (are |is |were )?(missing|not found|not set)",
    r"security token included in the request is (invalid|expired)|unrecognizedclient|expiredtoken|partial credentials",
    r"(missing|incomplete) (aws|azure|google) credentials|credentials? .{0,20}expired",
    r"profile .{1,80} could not be found",
)
_PLACE = _any_of(
    r"region.{0,20}(not set|is not specified|must be specified)|must specify a region|noregion",
    r"api[_ -]version.{0,30}(required|missing|must|not set)|must provide .{0,40}(api_version|azure_endpoint)",
    r"project.{0,20}(not set|is required|must be)|not (available|supported|offered) in (the |this )?(region|location)",
)
_MISSING_PACKAGE = _any_of(
    r"no module named '?([\w.-]+)|missing (boto3|google-auth|azure-identity)",
    r"(boto3|google-auth|azure-identity) (package )?(is not installed|needed)",
)
# Somebody has to do something about the account first, whatever code says that the model is not found.
_ORGANIZATION = _any_of(
    r"organi[sz]ation (must be|is not|has not been|has been|needs to be)|verify (your )?organi[sz]ation",
    r"account (is|has been|was) [\w ]{0,20}(disabled|suspended|deactivated|restricted|blocked|banned)",
    r"use case details|(requires?|need to|must|first|please) (accept|agree)\w*|(fill out|submit) .{0,40}\bform\b",
)
_ACCOUNT = _any_of(
    r"(country|region|territory|location) (is )?not supported|not (available|supported) in your (country|region)",
    r"(not|no) (enabled|available|access|supported).{0,60}(this|your) (account|plan|tier|project|subscription)",
    r"on-demand throughput|terms (of (use|service) )?(must be|need to be|required)|model (is )?gated|data policy",
    r"no endpoints found|api.{0,40}(has not been used in project|is disabled)|not allowed to use .{0,40}\bmodel\b",
)
# The provider does not offer the model, whatever status says so.
_NO_MODEL = _any_of(
    r"\bmodel\b[^.;]{0,120}(not|doesn.t) exist|not a valid model|invalid model( id| name)?\b",
    r"model[ _](id(entifier)?|name)[^.;]{0,60}(is invalid|not valid|unknown)|unknown model|model[ _]?not[ _]?found",
    r"\bmodel\b[^.;]{0,120}(decommissioned|discontinued|been retired|no longer (supported|available))",
    r"\bmodels?[/:'\"` ][^;\n]{0,80}\bnot found\b|not a chat model|is a chat model",
    r"(could not|cannot|can.t|unable to) find (the |a )?model|no (such model|model named)",
    r"unsupported model(?! (param|arg|option|setting))",
    r"(specified|requested) model\b[^.;,]{0,60} is (unknown|unsupported)",
    r"\bmodel\b[^.;,]{0,60} (is|was|has been) (deprecated|removed|sunset|shut down)",
    r"not work with the (specified |given )?model|only supported in v\d/",
    r"\bmodel\b[^.;]{0,120}end of (its )?life|model_decommissioned|model_not_(found|available)|\bmodel not exist",
    r"\bmodel\b[^.;,]{0,60} is not (available|accessible|active)\b(?! (at|right|now|yet|temporarily|currently|in))",
    r"\b(has been|is|was) (deprecated|retired|decommissioned) and (is |was )?(no longer|not|un)",
    r"no endpoints found for [\w.-]+/",
    r"no models? (is |are |has been )?(currently )?loaded|\bmodel (deprecated|removed|retired)\b|模型不存在",
)
_BAD_KEY = _any_of(
    r"(api|access|subscription|secret)[ _-]?key[^.;]{0,30}(not valid|invalid|expired|not found|revoked|leaked)",
    r"(pass|provide|supply|enter|use) a valid [\w ]{0,12}key",
    r"(api|access)[ _-]?key[^.;]{0,30}(restricted|disabled|blocked|cannot be used|not allowed|suspended)",
    r"(invalid|incorrect|wrong|expired|unknown)[ _](api|access|auth(entication)?)[ _-]?(key|token)",
)
# Advice that many errors end with: it names a cause only if nothing else does.
_OTHER_MODEL = _any_of(r"(different|another|other) model")
_AGAIN = _any_of(r"\b(again|retry|later)\b")
# The machine on which the model runs cannot load it, or its files lack a part.
_MACHINE = _any_of(
    r"requires more (system |gpu |video )?memory|insufficient system resources|failed to load (the )?model",
    r"unable to (load|allocate) .{0,40}\bmodel\b|chat[ _]template",
)
_ROLE = _any_of(
    rf"system[\W_]+(role|message|prompt|instruction)s?\b.{{0,60}}{_NO}(support|enabl|allow|accept)",
    rf"{_NO}(support|enabl|allow|accept|expect)\w*\W.{{0,60}}(system\W+(role|message|prompt|instruction)|role\W+system)",
    r"(may|must|can|should) ?not (contain|include|have|use|start with) (a |any |the )?"
    r"(system|developer)[ _]?(role|message)",
    r"developer instruction|roles? must alternate|only user,?( and| or)? assistant|roles are supported, got",
    r"first message must be (from )?(the )?user",
    r"(unexpected|invalid|unknown|unsupported) (message )?role|\brole\b.{0,40}\bsystem\b.{0,40}(not|n.t|invalid)",
    r"messages?\[?\W?\d*\W{0,3}role\W.{0,40}not support",
)
_STREAMING = _any_of(
    rf"to stream this model|{_NO}support\w*.{{0,20}}\bstream(ing)?\b",
    rf"\bstream(ing)?\b( is| mode)?.{{0,20}}{_NO}(support|allow|enabl)",
)
_JSON_MODE = _any_of(
    r"response[_ ]?(format|mime_?type|schema)|json[_ ]?(mode|object|schema|validate)|generate json|failed_generation",
    r"structured[_ ]output|controlled generation|guided[_ ](decoding|json|grammar)|constrained (decoding|generation)",
    r"\bgrammar\b|xgrammar|vocabulary required for format|word .json.",
)
_LOCAL_GRAMMAR = _any_of(
    r"pars\w* grammar|initialize samplers|vocabulary required for format|json_validate|xgrammar|guided decoding",
)
_ONE_REPLY = _any_of(r"failed to generate json|json_validate_failed|failed_generation")
_PARAMETER = _any_of(
    r"\binvalid\W{1,3}[\w.]+\W{0,2}:",
    r"(un(supported|known|recogni[sz]ed|expected)|invalid|extraneous)[\w ]{0,20}"
    r"(parameter|argument|value|field|property|key|name|setting|option)",
    rf"(parameter|argument|value|field|property|option)s?\b.{{0,80}}{_NO}(support|permit|allow|recogni|valid|know)",
    r"extra[_ ](inputs?|fields?|forbidden)|additional properties|cannot find field|is (unsupported|deprecated)",
    r"(does not|doesn.t|do not|not) support\w*|cannot (both )?be (specified|set|used)|may only be set|is too large",
    r"must be (set to|less than|greater than|at least|at most|between|one of|in)|at most \d|out of range",
    r"\b(temperature|top_p|top_k|max_\w{0,20}tokens|\w{1,20}_penalty) must be",
    r"(the|is) maximum allowed|can only be (defined|specified|set|used)|valid range",
    r"only [\w.]{1,40} ?[=:] ?\S{1,20} (is|are) (allowed|supported|permitted|valid|accepted)",
    r"should be (less than|greater than|a valid|one of|in [\[(]|within|between|at most|at least)|input should be ['\"]",
    r"(is )?only (allowed|valid|available|supported) (when|with|if|for)|is not one of|not a valid (value|choice)",
    r"only (the default|supports?)|only works in thinking mode|budget .{0,30}is invalid",
    r"cannot be (disabled|turned off|switched off|omitted)",
)
# The size of a picture or file is no setting.
_FILE_SIZE = _any_of(
    r"\b(image|picture|photo|file|attachment|document|page)s?\b.{0,80}?"
    r"(too (large|big)|\d ?[kmg]i?b\b|pixels?\b|megapixels?)",
    r"(too (large|big)|\d ?[kmg]i?b\b|\d ?pixels?\b).{0,60}\b(image|picture|photo|file|attachment)",
)
_CONTENT = _any_of(
    r"content[_ ](policy|filter|moderation|management|safety|violation)|responsible ?ai|usage polic|moderation|flagged",
    r"safety (system|filter|setting|reason|policy)|prohibited|inappropriate|content exists risk|data[_ ]?inspection",
    r"(sensitive|unsafe|harmful) (content|word|information|request|prompt)|violat|high risk|blocked|recitation",
    r"内容安全|敏感|违规|审核未通过|不当内容|有害|guardrail|refus(ed|al) to|disallowed (content|topic|request)",
)
_OUTPUT_NAMES = (
    *("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens"),
    *("completion tokens", "output tokens"),
)
# Other names of a parameter in the words of providers; camel case is split before.
_ALIASES: dict[str, tuple[str, ...]] = {
    "max_tokens": _OUTPUT_NAMES,
    "max_completion_tokens": _OUTPUT_NAMES,
    "reasoning_effort": (
        "reasoning",
        "thinking",
        "think",
        "thinking_budget",
        "thinking_level",
        "thinking_config",
        "enable_thinking",
        "budget",
    ),
    "num_ctx": ("options",),
    "stream_options": ("include_usage", "stream options"),
}
CHAT_PARAMETERS = ("temperature", "max_tokens", "reasoning_effort", "num_ctx", "stream_options", "top_p")
_CAMEL = compile_late(r"(?<=[a-z])(?=[A-Z])")


# What errors quote: values of these fields, what follows these words, and sentences between quotation marks.
_ECHO = compile_late(
    r"""(?<!\\)["'](?:input|input_value|prompt|contents?|text|messages|failed_generation)["']\s{0,4}:\s{0,4}"""
)
_QUOTED_TAIL = compile_late(
    r"(?:original response|raw response|received messages?|input_value)\s{0,4}[:=].*", re.IGNORECASE | re.DOTALL
)
_STRING = compile_late(r""""(?:[^"\\]|\\.)*+(?:"|\Z)|'(?:[^'\\]|\\.)*+(?:'|\Z)""", re.DOTALL)
_BRACKET_OR_STRING = compile_late(rf"[\[\]{{}}]|{_STRING.pattern}", re.DOTALL)
_HAS_FIELDS = compile_late(r"""["'](?:message|error|detail|msg)["']\s{0,4}:""")
_LONG_QUOTE = compile_late(r"""["“](?:[^\s"“”]{1,80}\s+){3}[^"“”]*+["”]""")
# JSON within a string: what another provider said, which the first one passes on, is in such a field.
_NOT_PASSED_ON = "".join(rf"""(?<!{field}\\":{gap})""" for field in ("message", "detail", "msg") for gap in ("", " "))
_ESCAPED_QUOTE = compile_late(
    _NOT_PASSED_ON + r"""\\"(?:[^\s"\\]{1,80}\s+){3}[^"\\]*+\\"|“(?:[^\s“”]{1,80}\s+){3}[^“”]*+”"""
)


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a request was rejected; `parameter` is what may be left out, `ANY_PARAMETER` if no name is given.

    `lasting`: whether the same parameter is rejected in every call.
    """

    cause: Cause
    parameter: str = ""
    lasting: bool = True
    package: str = ""


def own_words(text: str) -> str:
    """An error without what it quotes of the request or of a reply: texts of people decide nothing."""
    text = _QUOTED_TAIL.sub("", text[:MAX_ERROR])
    parts, at = list[str](), 0
    while echo := _ECHO.search(text, at):
        parts.append(text[at : echo.end()])
        at = _skip_value(text, echo.end())
    text = "".join((*parts, text[at:]))
    quotes = _ESCAPED_QUOTE if _HAS_FIELDS.search(text) else _LONG_QUOTE
    return quotes.sub("…", text)


def _skip_value(text: str, start: int) -> int:
    """Where the value that begins here ends: a string, a list or an object."""
    if found := _STRING.match(text, start):
        return found.end()
    depth, at = 0, start
    for mark in _BRACKET_OR_STRING.finditer(text, start):
        if not depth and mark.start() != start:
            return start
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark[0], 0)
        at = mark.end()
        if depth <= 0:
            return at
    return len(text) if depth else start


def read_rejection(text: str, status: int | None) -> Rejection:
    """The cause that an error names, "" if none."""
    text = text[:MAX_READ]
    if package := _MISSING_PACKAGE.search(text):
        return Rejection("settings", package=next(filter(None, package.groups()), ""))
    if is_out_of_credit(text):
        return Rejection("credit")
    if _CREDENTIALS.search(text):
        return Rejection("credentials")
    return _read_server_error(text) if status is not None and status >= SERVER_ERRORS else _read_request_error(text)


def _read_server_error(text: str) -> Rejection:
    """What is wrong with the server itself: only its grammar, its template or its machine are no passing failures."""
    if _LOCAL_GRAMMAR.search(text):
        return Rejection("settings", RESPONSE_FORMAT, not _ONE_REPLY.search(text))
    if _ROLE.search(text):  # a chat template that raises an exception
        return Rejection("settings", SYSTEM_ROLE)
    return Rejection("settings" if _MACHINE.search(text) else "")


def _read_request_error(text: str) -> Rejection:
    if _ORGANIZATION.search(text) and not _STREAMING.search(text):
        return Rejection("settings")
    if _BAD_KEY.search(text):
        return Rejection("key")
    if _NO_MODEL.search(text):
        return Rejection("model")
    return _read_settings(text) or Rejection("content" if _CONTENT.search(text) else "")


def advises_other_model(text: str) -> bool:
    """Whether all that an error says is to take another model: it then does not fit the request."""
    return bool(_OTHER_MODEL.search(text)) and not _AGAIN.search(text)


def is_out_of_credit(text: str) -> bool:
    """Whether a text says that money or a paid quota is used up; limits of the rate are not that."""
    if _RATE.search(text) and not _ALWAYS_CREDIT.search(text):
        return False
    return bool(_CREDIT.search(text))


def _read_settings(text: str) -> Rejection | None:
    """What is wrong with the settings, None if nothing is said to be."""
    if _JSON_MODE.search(text):
        return Rejection("settings", RESPONSE_FORMAT, not _ONE_REPLY.search(text))
    if _ROLE.search(text):
        return Rejection("settings", SYSTEM_ROLE)
    if _STREAMING.search(text) and "stream_options" not in text:
        return Rejection("settings", STREAM)
    if _PARAMETER.search(text):
        name = find_parameter(text, CHAT_PARAMETERS)
        if name or not (_CONTENT.search(text) or _FILE_SIZE.search(text)):
            return Rejection("settings", name or ANY_PARAMETER)
    is_settings = any(pattern.search(text) for pattern in (_ACCOUNT, _PLACE, _MACHINE))
    return Rejection("settings") if is_settings else None


def find_parameter(text: str, sent: Collection[str]) -> str:
    """The parameter of the request that a text names first, by its own or another name; "" if none."""
    words = _CAMEL.sub("_", text).casefold()
    places = {name: _first_place(words, name) for name in sent}
    named = {name: place for name, place in places.items() if place >= 0}
    return min(named, key=named.__getitem__) if named else ""


def _first_place(words: str, name: str) -> int:
    names = (name, *_ALIASES.get(name, ()))
    found = (re.search(rf"(?<![a-z]){re.escape(parameter)}(?![a-z])", words) for parameter in names)
    return min((match.start() for match in found if match), default=-1)
