"""What can be set from outside, in one frozen object: the only reader of the environment."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path  # noqa: TC003  - pydantic reads the fields’ types at run time
from typing import TYPE_CHECKING, Any, Literal

from platformdirs import user_cache_path, user_data_path
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.cli import env_file
from bot.errors import BadSetting
from engine import RetrievalMode  # noqa: TC001  - pydantic reads the fields’ types at run time

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "THREADLORE_"
MAX_CONTEXT_TOKENS = 10_000_000  # tokens


class Settings(BaseSettings):
    """Every setting with its default; each is read from the environment, or from a file, as THREADLORE_<NAME>.

    Empty strings mean "not set". Times are seconds, sizes MiB. `.env.example` says what each one does.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    home: Path = Field(default_factory=lambda: user_data_path("threadlore"))
    cache: Path = Field(default_factory=lambda: user_cache_path("threadlore"))
    space: str = Field(default="console:local", min_length=1)
    mode: RetrievalMode = "mix"

    model: str = ""
    extract_model: str = ""
    keyword_model: str = ""
    api_base: str = ""
    api_key: SecretStr = SecretStr("")
    temperature: float | None = Field(default=None, ge=0)
    max_output_tokens: int | None = Field(default=None, gt=0)
    context_tokens: int = Field(default=0, ge=0, le=MAX_CONTEXT_TOKENS)
    output_reserve: int = Field(default=0, ge=0, le=MAX_CONTEXT_TOKENS)
    num_ctx: int = Field(default=0, ge=0, le=MAX_CONTEXT_TOKENS)

    embedding_model: str = ""
    embedding_api_base: str = ""
    embedding_api_key: SecretStr = SecretStr("")
    embedding_dim: int = Field(default=0, ge=0)
    embedding_max_tokens: int = Field(default=8000, gt=0)

    rerank_model: str = ""
    rerank_api_base: str = ""
    rerank_api_key: SecretStr = SecretStr("")

    extraction_format: Literal["tuples", "json"] = "tuples"
    gleaning: int = Field(default=1, ge=0, le=1)
    description_language: str = ""

    calls: int = Field(default=8, gt=0)
    timeout: float = Field(default=180.0, gt=0)
    silence: float = Field(default=60.0, gt=0)
    thinking: float = Field(default=600.0, gt=0)
    attempts: int = Field(default=4, gt=0)

    graph: Literal["kuzu", "ladybug"] = "kuzu"
    words: Literal["porter unicode61", "trigram"] = "porter unicode61"
    readers: int = Field(default=8, gt=0)
    quiet: float = Field(default=600.0, gt=0)
    compact_after: float = Field(default=600.0, gt=0)

    file_size: int = Field(default=50, gt=0)
    file_memory: int = Field(default=2048, gt=0)
    file_seconds: float = Field(default=60.0, gt=0)
    file_workers: int = Field(default=2, gt=0)

    slack_bot_token: SecretStr = SecretStr("")
    slack_app_token: SecretStr = SecretStr("")
    slack_api_base: str = "https://slack.com/api/"
    discord_token: SecretStr = SecretStr("")
    discord_api_base: str = "https://discord.com/api/v10"
    discord_gateway: str = ""

    answers: Literal["mention", "thread", "all"] = "thread"
    index_bots: bool = False
    backfill_days: int = Field(default=90, ge=0)
    retention_days: int = Field(default=0, ge=0)
    member_age: float = Field(default=60.0, ge=0, le=60.0)
    questions_per_minute: int = Field(default=10, gt=0)
    tokens_per_day: int = Field(default=0, ge=0)
    file_wait: float = Field(default=30.0, ge=0)
    purge_when_removed: bool = False
    health_host: str = "127.0.0.1"
    health_port: int = Field(default=0, ge=0, le=65535)

    @property
    def root(self) -> Path:
        """The data folder as an absolute path."""
        return self.home.expanduser().absolute()


def load_settings(file: Path | None = None, /, **given: Any) -> Settings:
    """The settings of this run; what is given here has the first word, the environment the second, a file the third.

    Without a named file that is `.env` in the data folder, never one of the current folder. Raises BadSetting, naming
    the variable.
    """
    if file is not None:
        return _read_settings(env_file.check_env_file(file), given)
    settings = _read_settings(None, given)
    own = env_file.find_env_file(settings.root)
    return _read_settings(own, {**given, "home": settings.home}) if own else settings


def _read_settings(file: Path | None, given: Mapping[str, Any]) -> Settings:
    found = {**env_file.read_variables(file)} if file else {}
    try:
        settings = Settings(**{"_env_file": file, **given})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = f"{PREFIX}{first['loc'][0]}".upper()
        raise BadSetting(f"{name} cannot be used: {first['msg'].lower()}.") from error
    for name, value in found.items():
        if not name.upper().startswith(PREFIX):
            os.environ.setdefault(name, value)  # providers' own variables, such as OPENAI_API_KEY
    return settings


def list_unknown_variables(file: Path | None, home: Path) -> list[str]:
    """A sentence for every variable that begins like a setting and is none."""
    chosen = file or env_file.find_env_file(home)
    names = {name.upper() for name in (*os.environ, *(env_file.read_variables(chosen) if chosen else ()))}
    settings = {f"{PREFIX}{name}".upper() for name in Settings.model_fields}
    return [
        f"There is no setting {name}{_suggest_setting(name)}."
        for name in sorted(names)
        if name.startswith(PREFIX) and name not in settings
    ]


def _suggest_setting(name: str) -> str:
    close = get_close_matches(name.removeprefix(PREFIX).lower(), Settings.model_fields, 2)
    return f"; {' or '.join(f'{PREFIX}{each.upper()}' for each in close)} may be meant" if close else ""
