from __future__ import annotations

import json

import pytest

from engine.llm.wire.rejections import find_parameter, own_words, read_rejection

QUOTA, BUSY = 429, 503


@pytest.mark.parametrize(
    "text",
    [
        "Not enough credits: top up your wallet",
        "Your credit balance is too low for this call",
        "You exceeded your current quota; check your plan and billing details",
        "Billing hard limit has been reached",
        "The account is in arrears",
        "The team has used all available credits",
        "error code insufficient_quota",
        "This request requires more credits than are left",
        "This API requires billing to be enabled on the project",
        "Key limit exceeded (weekly limit)",
        "The mill team doesn't have any credits yet",
        "The token quota is exhausted for this month",
        "The prepayment of this project is gone: credits are depleted",
        "No credits left; top up your wallet",
        "Suspended for an unpaid invoice",
        "The free tier of this model has been exhausted",
        "The trial key is limited to 1,000 API calls / month",
        "余额不足,请充值后再试",
        "账户欠费",
    ],
)
def test_money_that_is_used_up_is_told_from_refusals(text: str) -> None:
    assert read_rejection(text, 400).cause == "credit"


@pytest.mark.parametrize(
    "text",
    ["Exceeded the token rate limit of your tier; ask for a quota increase", "Quota exceeded: requests per minute"],
)
def test_a_limit_of_the_rate_is_no_lack_of_money(text: str) -> None:
    assert read_rejection(text, QUOTA).cause != "credit"


@pytest.mark.parametrize(
    ("text", "parameter"),
    [
        ("System role is not supported by this template", "system"),
        ("The model doesn't support system instructions", "system"),
        ("Roles must alternate user/assistant/user", "system"),
        ("Only user, assistant and tool roles are supported, got system.", "system"),
        ("reasoning_effort: Input should be 'low', 'medium' or 'high'", "reasoning_effort"),
        ("Developer instruction is not enabled for models/tiny", "system"),
        ("Reasoning is mandatory here and cannot be disabled.", "reasoning_effort"),
        ("Unsupported value: 'temperature' does not support 0.3", "temperature"),
        ("Invalid 'temperature': it is above the maximum", "temperature"),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"),
        ("max_tokens is too large; the model writes at most 4096 completion tokens", "max_tokens"),
        ("This model does not support parameter reasoningEffort.", "reasoning_effort"),
        ("Budget 0 is invalid: it only works in thinking mode", "reasoning_effort"),
        ("[{'type': 'extra_forbidden', 'loc': ['body', 'stream_options']}]", "stream_options"),
        ("Extra inputs are not permitted", "*"),
        ("The organization must be verified to stream this model", "stream"),
        ("The organization must be verified to use this model", ""),
        ("'response_format.type' must be 'json_schema'", "response_format"),
        ("JSON mode is not enabled for models/tiny", "response_format"),
        ("Cannot parse grammar of the sampler", "response_format"),
        ("Structured output is not available for it", "response_format"),
        ("max_tokens: 9000 > 4096, which is the maximum allowed", "max_tokens"),
        ("Stream options can only be defined for streams", "stream_options"),
        ("The tokenizer has no chat template", ""),
        ("Failed to load model: insufficient system resources", ""),
        ("extra_forbidden: response_mime_type", "response_format"),
    ],
)
def test_a_setting_that_is_not_accepted_is_named(text: str, parameter: str) -> None:
    found = read_rejection(text, 400)
    assert (found.cause, found.parameter, found.lasting) == ("settings", parameter, True)


def test_a_failed_attempt_at_json_says_nothing_about_the_next_one() -> None:
    found = read_rejection("Failed to generate JSON; see 'failed_generation'", 400)
    assert (found.parameter, found.lasting) == ("response_format", False)


def test_a_server_error_is_about_json_only_if_it_names_the_grammar() -> None:
    assert read_rejection("Failed to parse grammar", 500).parameter == "response_format"
    assert read_rejection("response_format worker crashed", BUSY).cause == ""


@pytest.mark.parametrize(
    "text",
    [
        "The prompt violates our usage policy",
        "Blocked by content filtering",
        "Content Exists Risk",
        "Your input was flagged by moderation",
        "The prompt contains sensitive words",
    ],
)
def test_a_refusal_of_the_content_is_one(text: str) -> None:
    assert read_rejection(text, 400).cause == "content"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("API key not valid. Pass a valid one.", "key"),
        ("Incorrect API key provided", "key"),
        ("The model identifier is invalid", "model"),
        ("The model `tiny-1` has been decommissioned", "model"),
        ("Model Not Exist", "model"),
        ("mills/tiny is not a valid model ID", "model"),
        ("The model `tiny` does not exist", "model"),
        ("This model version has reached the end of its life", "model"),
        ("models/tiny is not found for this version", "model"),
        ("Could not find model tiny in the list", "model"),
        ("Model tiny was deprecated; use small", "model"),
        ("The operation does not work with the specified model, tiny", "model"),
        ("This API key is restricted to other addresses", "key"),
        ("Your organization must be verified for `tiny` (model_not_found)", "settings"),
        ("Your account has been temporarily suspended", "settings"),
        ("Fill out the use case form before using the model", "settings"),
        ("Only temperature=1 is allowed for this model", "settings"),
        ("messages may not contain a system role", "settings"),
        ("Input should be less than or equal to 1", "settings"),
        ("The guild is not allowed to use Publisher Model tiny", "settings"),
        ("Unsupported parameter 'temperature': choose another model", "settings"),
        ("Your prompt was flagged; rephrase it, or try a different model", "content"),
        ("It violates the usage policy: it must not contain system prompts of others", "content"),
        ("No models loaded. Load one in the developer page", "model"),
        ("Model deprecated and removed", "model"),
        ("tiny has been retired and is no longer offered", "model"),
        ("The model 'tiny' is not available", "model"),
        ("The model 'tiny' is not available at the moment", ""),
        ("temperature must be 1 for this model", "settings"),
        ("effort: 'none' is not one of ['low', 'high']", "settings"),
        ("内容安全审核未通过", "content"),
        ("The picture should be less than 3 MB", ""),
        ("The attached file is too large: at most 2 pages", ""),
    ],
)
def test_a_wrong_key_or_model_is_told_whatever_the_status(text: str, cause: str) -> None:
    assert read_rejection(text, 400).cause == cause


def test_a_machine_that_is_too_small_for_the_model_is_a_setting() -> None:
    assert (
        read_rejection("model requires more system memory (9 GiB) than is available (2 GiB)", 500).cause == "settings"
    )


@pytest.mark.parametrize(
    "text",
    [
        "Unable to locate credentials",
        "Your default credentials were not found",
        "The security token included in the request is expired",
    ],
)
def test_missing_credentials_of_a_cloud_are_named(text: str) -> None:
    assert read_rejection(text, None).cause == "credentials"


def test_a_missing_package_is_named() -> None:
    assert read_rejection("No module named 'boto3'", None).package == "boto3"


def test_the_parameter_that_is_named_first_is_found_among_those_sent() -> None:
    assert find_parameter("`top_k` and `seed` cannot both be set", ["seed", "top_k", "input_type"]) == "top_k"
    assert find_parameter("no such thing", ["seed"]) == ""


@pytest.mark.parametrize("text", ["Something is odd", "Could not process image", "bad request"])
def test_what_names_no_cause_is_left_open(text: str) -> None:
    assert read_rejection(text, 400).cause == ""


SAID = "our account balance is low; the key is invalid: context length, system role not supported"


@pytest.mark.parametrize(
    "error",
    [
        f"Unable to parse it. Original Response: Ada said {SAID}",
        f'Bad request: "Ada said {SAID}" cannot be read',
        f"Bad request: “Ada said {SAID}” cannot be read",
        json.dumps({"detail": [{"type": "string", "loc": ["messages", 1, "content"], "input": [{"text": SAID}]}]}),
        json.dumps({"detail": [{"msg": "bad", "input": {"content": [SAID, "]"]}, "type": "dict"}]}),
        repr({"error": {"message": "bad request", "messages": [{"role": "user", "content": SAID}]}}),
        json.dumps({"error": {"message": f'bad request: "Ada said {SAID}"', "code": "x"}}),
        f"1 error [type=string, input_value='Ada said {SAID}', input_type=str]",
    ],
)
def test_what_an_error_quotes_decides_nothing(error: str) -> None:
    assert read_rejection(own_words(error), 400).cause == ""
    assert "balance" not in own_words(error)


def test_the_words_around_a_quotation_count() -> None:
    error = {"error": {"message": 'Unsupported parameter: "temperature"', "input": SAID, "code": "credit balance"}}
    assert read_rejection(own_words(json.dumps(error)), 400).cause == "credit"
    assert read_rejection(own_words('property "sparkle" is unsupported'), 400).cause == "settings"


def test_a_template_that_refuses_a_role_says_so_as_a_failure_of_the_server() -> None:
    found = read_rejection("Jinja Exception: System role not supported", 500)
    assert (found.cause, found.parameter) == ("settings", "system")


def test_a_gateway_without_the_model_names_it() -> None:
    assert read_rejection("No endpoints found for mill/stone-7b:free.", 404).cause == "model"
