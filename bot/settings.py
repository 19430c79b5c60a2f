"""Settings of the program, loaded from the environment and a file.

The file is `.env` in the data directory, or a named one. A .env in the current directory is never read.
"""

from __future__ import annotations

import logging
import os
import stat
from difflib import get_close_matches
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo

from dotenv import dotenv_values
from dotenv.parser import parse_stream
from platformdirs import user_data_path
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.errors import BadSetting
from engine import RetrievalMode  # noqa: TC001  - pydantic reads the fields’ types at run time
from engine.options import DEFAULT_PROMPT_TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pydantic_core import ErrorDetails

logging.getLogger("dotenv").setLevel(logging.ERROR)  # `list_unread_lines` says it once, and in a sentence

ENV_FILE_NAME = ".env"
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH

PREFIX = "THREADLORE_"
# One value for everything, and others for single platforms: "names", "on,chat=off".
PEOPLE_PATTERN = r"^(?:(?:^|,)\s*(?:\w+\s*=\s*)?(?:off|names|on)\s*)*$"
STORES_GROUP = "threadlore.stores"  # of entry points: plug-ins that hold graph and vectors
MAX_DAYS = 36_500  # earlier than any message; dates do not go back much further
# Former settings, and what to do instead.
REPLACED = {
    "THREADLORE_SEARCH_MEMORY_MB": "THREADLORE_MEMORY_MB bounds the whole main process, so set it to 704 more"
    " than this one, 768 at least, or leave both out"
}
BACKUP_SECONDS = {"hour": 3600.0, "day": 86_400.0, "week": 604_800.0}
MAX_CONTEXT_TOKENS = 10_000_000  # tokens
AUDITORS = r"^\s*([^:,\s]+:[^:,\s]*:[^:,\s]+\s*(,\s*|$))*$"  # PLATFORM:WORKSPACE:PERSON, separated by commas


def read_variables(file: Path) -> Mapping[str, str]:
    """The variables of a settings file. Raises BadSetting."""
    try:
        return {name: value for name, value in dotenv_values(file, encoding="utf-8").items() if value}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise BadSetting(
            f"The settings in {file} cannot be read: {reason}.",
            hint="Check the permissions and the encoding of the file.",
        ) from error


def is_settings_file(file: Path) -> bool:
    """Whether there is such a file. Raises BadSetting if its folder cannot be looked at."""
    try:
        return stat.S_ISREG(file.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise BadSetting(
            f"{file.parent} cannot be read: {error.strerror}.",
            hint="Run this as the user whose folder it is, or choose another one with --data-dir.",
        ) from error


def check_env_file(file: Path) -> Path:
    """Check that a named file exists. Raises BadSetting."""
    if not is_settings_file(file):
        raise BadSetting(f"There is no file {file}.", hint="--env-file expects a file with one setting per line.")
    return file


def find_env_file(data_dir: Path) -> Path | None:
    """The .env file of a data directory, if it exists. Raises BadSetting if other users could have written it."""
    file = data_dir / ENV_FILE_NAME
    if not is_settings_file(file):
        return None
    for path in (data_dir, file):
        check_writers(path)
    return file


def check_writers(path: Path) -> None:
    """Raise BadSetting if other users can write to a file or folder of settings."""
    found = path.stat()
    if found.st_uid not in {os.getuid(), 0} or found.st_mode & WRITABLE_BY_OTHERS:
        raise BadSetting(
            f"Others can write to {path}, so its settings are not read.",
            hint=f"Remove write access for others (chmod go-w {path}), or pass the file with --env-file.",
        )


class Settings(BaseSettings):
    """All settings with their defaults. Each is read as THREADLORE_<NAME> from the environment or from a file.

    An empty string means "not set". `.env.example` describes each setting.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
        allow_inf_nan=False,
    )

    data_dir: Path = Field(default_factory=lambda: user_data_path("threadlore"))
    space: str = Field(default="console:local", min_length=1)
    retrieval_mode: RetrievalMode = "mix"

    llm_model: str = ""
    extraction_model: str = ""
    query_model: str = ""
    answer_models: str = ""
    llm_api_base: str = ""
    llm_api_key: SecretStr = SecretStr("")
    llm_temperature: float | None = Field(default=None, ge=0)
    llm_max_output_tokens: int | None = Field(default=None, gt=0)
    llm_context_tokens: int = Field(default=0, ge=0, le=MAX_CONTEXT_TOKENS)
    llm_prompt_tokens: int = Field(default=DEFAULT_PROMPT_TOKENS, ge=0, le=MAX_CONTEXT_TOKENS)
    llm_output_reserve_tokens: int = Field(default=0, ge=0, le=MAX_CONTEXT_TOKENS)
    ollama_num_ctx: int = Field(default=0, ge=0, le=MAX_CONTEXT_TOKENS)
    llm_reasoning_effort: str = ""
    llm_extra_parameters: str = ""

    extraction_temperature: float | None = Field(default=0.0, ge=0)
    extraction_reasoning_effort: str = "lowest"
    extraction_extra_parameters: str = ""
    extraction_context_tokens: int = Field(default=0, ge=0, le=MAX_CONTEXT_TOKENS)
    query_temperature: float | None = Field(default=None, ge=0)
    query_reasoning_effort: str = "lowest"
    query_extra_parameters: str = ""
    query_context_tokens: int = Field(default=0, ge=0, le=MAX_CONTEXT_TOKENS)

    languages: str = ""
    embedding_model: str = ""
    embedding_api_base: str = ""
    embedding_api_key: SecretStr = SecretStr("")
    embedding_dimensions: int = Field(default=0, ge=0)
    embedding_max_input_tokens: int = Field(default=8000, gt=0)
    embedding_query_prefix: str = ""
    embedding_passage_prefix: str = ""

    rerank_model: str = ""
    rerank_api_base: str = ""
    rerank_api_key: SecretStr = SecretStr("")

    vision_model: str = ""
    vision_api_base: str = ""
    vision_api_key: SecretStr = SecretStr("")
    vision_temperature: float | None = Field(default=None, ge=0)
    vision_reasoning_effort: str = "lowest"
    vision_extra_parameters: str = ""
    vision_context_tokens: int = Field(default=0, ge=0, le=MAX_CONTEXT_TOKENS)

    extraction_by: Literal["model", "rules", "auto"] = "auto"
    extraction_format: Literal["tuples", "json"] = "tuples"
    extraction_gleaning: Literal["off", "auto", "always"] = "auto"
    description_language: str = ""
    entity_types: str = ""

    llm_max_concurrency: int = Field(default=8, gt=0)
    llm_timeout_seconds: float = Field(default=180.0, gt=0)
    llm_stream_idle_timeout_seconds: float = Field(default=60.0, gt=0)
    llm_thinking_timeout_seconds: float = Field(default=600.0, gt=0)
    llm_max_attempts: int = Field(default=4, gt=0)

    database: SecretStr = SecretStr("")
    graph_backend: Literal["kuzu", "ladybug"] = "kuzu"
    stores: str = ""
    fulltext_tokenizer: Literal["porter unicode61", "trigram"] = "porter unicode61"
    extraction_concurrency: int = Field(default=8, gt=0)
    extraction_wait_seconds: float = Field(default=900.0, ge=0, le=86_400)
    summary_cooldown_seconds: float = Field(default=600.0, gt=0)
    join_duplicate_names: bool = True
    people: str = Field(default="", pattern=PEOPLE_PATTERN)
    suggest_duplicate_names: bool = True
    compaction_delay_seconds: float = Field(default=600.0, gt=0)
    disk_reserve_mb: int = Field(default=32, ge=0, le=4096)
    memory_mb: int = Field(default=0, ge=0)

    backup_every: Literal["", "hour", "day", "week"] = ""
    backup_dir: str = ""
    backup_keep: int = Field(default=7, gt=0, le=10_000)

    max_file_size_mb: int = Field(default=50, gt=0)
    parser_memory_mb: int = Field(default=2048, gt=0)
    parser_timeout_seconds: float = Field(default=60.0, gt=0)
    parser_workers: int = Field(default=2, gt=0)
    require_sandbox: bool = False
    ocr: Literal["auto", "off"] = "auto"
    ocr_languages: str = Field(default="eng", pattern=r"^[A-Za-z_]+(\+[A-Za-z_]+)*$")
    parser_service: Literal["", "docling", "mineru"] = ""
    # Without encryption only to this machine, a name of its own network, or a private address.
    parser_service_url: str = Field(
        default="http://127.0.0.1:5001",
        pattern=r"^(https://[^\s/]+|http://([A-Za-z0-9_-]+|\[::1\]|(127|10)(\.\d{1,3}){3}|192\.168(\.\d{1,3}){2}"
        r"|172\.(1[6-9]|2\d|3[01])(\.\d{1,3}){2})(:\d{1,5})?(/|$))",
    )
    parser_service_key: SecretStr = SecretStr("")
    parser_service_extensions: str = Field(default="pdf", pattern=r"^[a-z0-9]+(,[a-z0-9]+)*$")
    parser_service_timeout_seconds: float = Field(default=300.0, gt=0)

    adapter_settings: dict[str, SecretStr] = Field(default_factory=dict)  # by lower-case name, such as acme_bot_token

    language: str = ""
    reply_to: Literal["mention", "thread", "all"] = "thread"
    suggestions: bool = True
    index_bot_messages: bool = False
    chat_sources: str = Field(default="", pattern=r"^[a-z0-9_-]*( *, *[a-z0-9_-]+)*$")
    backfill_days: int = Field(default=90, ge=0, le=MAX_DAYS)
    retention_days: int = Field(default=0, ge=0, le=MAX_DAYS)
    backup_key_file: str = ""
    receipt_key_file: str = ""
    audit_days: int = Field(default=365, ge=0, le=MAX_DAYS)
    auditors: str = Field(default="", pattern=AUDITORS)
    membership_cache_seconds: float = Field(default=60.0, ge=0, le=60.0)
    questions_per_minute: int = Field(default=10, gt=0)
    daily_token_budget: int = Field(default=0, ge=0)
    renew_answers: Literal["off", "sentences", "on"] = "on"
    renew_answers_days: int = Field(default=30, ge=1, le=MAX_DAYS)
    renew_answers_tokens: int = Field(default=100_000, ge=0)
    contradictions: Literal["off", "on"] = "on"
    indexing_tokens_per_day: int = Field(default=0, ge=0)
    indexing_tokens_per_month: int = Field(default=0, ge=0)
    indexing_dollars_per_day: float = Field(default=0.0, ge=0)
    indexing_dollars_per_month: float = Field(default=0.0, ge=0)
    attachment_wait_seconds: float = Field(default=30.0, ge=0)
    delete_data_on_uninstall: bool | None = None  # None: in workspaces of others alone
    privacy_url: str = Field(default="", pattern=r"^(https?://[^\s<>()]+)?$", max_length=200)
    contact: str = Field(default="", pattern=r"^[^\r\n]*$", max_length=100)
    access_token: SecretStr = SecretStr("")
    web_host: str = "127.0.0.1"
    web_port: int = Field(default=8630, ge=0, le=65535)
    web_login: Literal["auto", "always"] = "auto"
    web_url: str = ""
    web_login_clients: SecretStr = SecretStr("")
    trusted_proxies: str = "127.0.0.0/8, ::1"
    monitoring_host: str = "127.0.0.1"
    monitoring_port: int = Field(default=0, ge=0, le=65535)
    watchdog_seconds: float = Field(default=120.0, ge=0)
    traces: bool = False
    update_url: str = Field(default="", pattern=r"^(?:https?://[^\s/]+.*)?$")

    @property
    def data_path(self) -> Path:
        """The data directory as an absolute path."""
        return self.data_dir.expanduser().absolute()

    @property
    def auditor_names(self) -> frozenset[str]:
        """The people who may see the audit log."""
        return frozenset(filter(None, map(str.strip, self.auditors.split(","))))

    @property
    def selectable_models(self) -> tuple[str, ...]:
        """The models that managers may choose for the answers of a channel; none without a language model."""
        names = (part.strip() for part in self.answer_models.split(","))
        return tuple(filter(None, names)) if self.llm_model else ()

    @property
    def active_watchdog_seconds(self) -> float:
        """The seconds of the watchdog; 0 on files, where no other process could take over."""
        return self.watchdog_seconds if self.database.get_secret_value() else 0.0

    @property
    def backup_seconds(self) -> float:
        """Seconds between two scheduled backups; 0 if none are."""
        return BACKUP_SECONDS.get(self.backup_every, 0.0)

    @property
    def store_place(self) -> Path | str:
        """Where the bot's tables are: a file in the data directory, or the address of the database."""
        return self.database.get_secret_value() or self.data_path / "bot.db"


def load_settings(file: Path | None = None, /, **overrides: Any) -> Settings:
    """Load the settings; `overrides` take precedence over the environment, and the environment over the file.

    The default file is `.env` in the data directory, never one in the current directory. Raises BadSetting with the
    name of the variable.
    """
    if file is not None:
        return _read_settings(check_env_file(file), overrides)
    settings = _read_settings(None, overrides)
    default_file = find_env_file(settings.data_path)
    return _read_settings(default_file, {**overrides, "data_dir": settings.data_dir}) if default_file else settings


def load_present_settings(file: Path, **overrides: Any) -> Settings:
    """Load the settings as `load_settings` does with this file, which need not exist. Raises BadSetting."""
    return _read_settings(file if is_settings_file(file) else None, overrides)


def describe_bad_value(error: ErrorDetails) -> str:
    """What is wrong with the value of a setting, in a clause."""
    if plain := _BAD_VALUES.get(error["type"]):
        return plain
    return error["msg"].lower().removeprefix("value error, ").replace("input should", "it should")


_BAD_VALUES = {
    "int_parsing": "it is no whole number",
    "int_from_float": "it is no whole number",
    "float_parsing": "it is no number",
    "bool_parsing": "it is neither true nor false",
}


def _read_settings(file: Path | None, overrides: Mapping[str, Any]) -> Settings:
    variables = {**read_variables(file)} if file else {}
    try:
        adapters = {**_find_adapter_settings(variables), **_find_adapter_settings(os.environ)}
        settings = Settings(**{"_env_file": file, "adapter_settings": adapters, **overrides})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = f"{PREFIX}{first['loc'][0]}".upper()
        raise BadSetting(f"{name} cannot be used: {describe_bad_value(first)}.") from error
    for name, value in variables.items():
        if not name.upper().startswith(PREFIX):
            os.environ.setdefault(name, value)  # variables of providers, such as OPENAI_API_KEY
    return settings


def _find_adapter_settings(variables: Mapping[str, str]) -> dict[str, SecretStr]:
    """Variables with the prefix that are no settings of the bot, by lower-case name; each adapter selects its own."""
    names = {name: name.upper().removeprefix(PREFIX).lower() for name in variables if name.upper().startswith(PREFIX)}
    return {
        setting: SecretStr(variables[name])
        for name, setting in names.items()
        if variables[name] and setting not in Settings.model_fields
    }


def list_unknown_variables(
    file: Path | None, data_dir: Path, list_adapter_names: Callable[[], Iterable[str]] = tuple
) -> list[str]:
    """One sentence for each variable with the prefix of settings that is no setting of the bot or a plug-in."""
    chosen = file or find_env_file(data_dir)
    names = {name.upper() for name in (*os.environ, *(read_variables(chosen) if chosen else ()))}
    settings = {f"{PREFIX}{name}".upper() for name in Settings.model_fields}
    unknown = sorted(name for name in names - settings if name.startswith(PREFIX))
    plugins = (*list_adapter_names(), *list_stores_names()) if unknown else ()
    known = tuple(f"{PREFIX}{name}_".upper() for name in (*plugins, "source"))  # the last: secrets of sources
    return [_explain_unknown(name) for name in unknown if not name.startswith(known)]


def list_stores_names() -> tuple[str, ...]:
    """The installed plug-ins that hold graph and vectors."""
    return tuple(sorted({entry_point.name for entry_point in entry_points(group=STORES_GROUP)}))


def _explain_unknown(name: str) -> str:
    if name in REPLACED:
        return f"{name} is not read any more: {REPLACED[name]}."
    return f"There is no setting {name}{_suggest_setting(name)}"


def _suggest_setting(name: str) -> str:
    matches = get_close_matches(name.removeprefix(PREFIX).lower(), Settings.model_fields, 2)
    return f"; did you mean {' or '.join(f'{PREFIX}{match.upper()}' for match in matches)}?" if matches else "."


def list_unread_lines(file: Path | None, data_dir: Path) -> list[str]:
    """One sentence if lines of the settings file cannot be read; what they hold is not repeated. Raises BadSetting."""
    chosen = file or find_env_file(data_dir)
    if chosen is None or not chosen.is_file():
        return []
    with chosen.open(encoding="utf-8") as lines:
        unread = [binding.original for binding in parse_stream(lines) if binding.error]
    numbers = [str(original.line + _count_blank_lines(original.string)) for original in unread]
    if not numbers:
        return []
    what = f"Line {numbers[0]} of {chosen} is" if len(numbers) == 1 else f"Lines {', '.join(numbers)} of {chosen} are"
    return [f"{what} not read: a line is NAME=value, or begins with #."]


def _count_blank_lines(text: str) -> int:
    return text[: len(text) - len(text.lstrip())].count("\n")


def find_local_zone(link: Path = Path("/etc/localtime")) -> str:
    """The IANA name of the time zone of whoever runs the program here; empty if it is not known."""
    name = os.environ.get("TZ", "").removeprefix(":") or str(link.resolve()).partition("zoneinfo/")[2]
    try:
        return ZoneInfo(name).key if name else ""
    except (ValueError, KeyError, OSError):
        return ""
