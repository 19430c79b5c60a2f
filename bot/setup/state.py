"""What a browser has chosen so far. It is in memory alone: a restart begins anew, and nothing is half written."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.model_setup.checks import check_models
from bot.setup import weights
from bot.setup.env_file import name_variable
from bot.setup.models import (
    BASE,
    KEY,
    MODEL,
    describe_cost,
    find_address_problem,
    find_key_problem,
    find_model_problem,
    fits_model,
    list_model_mistakes,
)
from bot.setup.pasted import clean_paste, find_mistake, mask
from bot.setup.platforms import list_refusals, load_setups, order_setups, settle_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.plugins import AccessCheck, Credential, PlatformSetup
    from bot.setup.draft import SetupDraft
    from engine import Clock
    from engine.llm.traits.model_check import ModelCheck


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the setup: where it is, what it is called, and whether it is done."""

    path: str
    title: str
    is_done: bool


@dataclass(slots=True)
class SetupState:
    """The choices of a browser. `version` grows with each of them; `platforms` is None before the first.

    `written` is set once the settings are, `left` once the last page is shown.
    """

    draft: SetupDraft
    clock: Clock
    platforms: list[str] | None = None
    variants: dict[str, str] = field(default_factory=dict)
    checks: dict[str, Sequence[AccessCheck]] = field(default_factory=dict)
    accepted: set[str] = field(default_factory=set)  # platforms that refuse nothing, or that are wanted anyway
    has_model: bool = False
    model_checks: Sequence[ModelCheck] = ()
    costs: Sequence[str] = ()
    changed: Sequence[str] = ()
    version: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    written: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    setups: dict[str, PlatformSetup] = field(default_factory=load_setups)

    @property
    def is_written(self) -> bool:
        """Whether the settings are written."""
        return self.written.is_set()

    @property
    def needs_weights(self) -> bool:
        """Whether the weights of the built-in embedder must be installed first."""
        return not self.draft.find_value("embedding_model") and not weights.is_installed(self.weights_package)

    @property
    def weights_package(self) -> weights.WeightsPackage:
        """The package of the built-in embedder for the languages that are set. Raises BadSetting."""
        return weights.choose_package(self.draft.find_value("languages"))

    def list_steps(self) -> list[Step]:
        """The steps, in their order."""
        chosen = self.platforms or []
        return [
            Step("/setup/connect", "Connect", self.platforms is not None),
            *(
                Step(f"/setup/platform/{platform}", self.setups[platform].title, platform in self.accepted)
                for platform in chosen
            ),
            Step("/setup/model", "Model", self.has_model),
            Step("/setup/review", "Check and start", self.is_written),
        ]

    def find_step(self) -> str:
        """The path of the first step that is not done."""
        return next((step.path for step in self.list_steps() if not step.is_done), "/setup/started")

    def choose_platforms(self, names: Sequence[str], variants: Mapping[str, str]) -> None:
        """Take these platforms, or none; what was entered for others is dropped."""
        self.version += 1
        self.platforms = [setup for setup in self.setups if setup in names]
        self.variants = dict(variants)
        for name in self.setups.keys() - set(self.platforms):
            self._forget_check(name)
            for credential in self.setups[name].credentials:
                self.draft.chosen.pop(credential.setting, None)

    def _forget_check(self, name: str) -> None:
        self.checks.pop(name, None)
        self.accepted.discard(name)

    def list_needed(self, name: str) -> Sequence[Credential]:
        """The secrets of a platform, in the order in which a person comes across them. Raises BadSetting."""
        return self.setups[name].list_needed(self.draft.load_chosen())

    def mask_kept(self, name: str) -> dict[str, str]:
        """What may be shown of the secrets of a platform that are there and can be used, by setting."""
        ordered = order_setups(name, self.setups)
        found = {
            credential: clean_paste(self.draft.find_value(credential.setting)) for credential in self.list_needed(name)
        }
        return {each.setting: mask(value) for each, value in found.items() if not find_mistake(value, each, ordered)}

    def take_values(self, name: str, values: Mapping[str, str]) -> dict[str, str]:
        """Keep pasted secrets; returns what is wrong, or still missing, by setting. Raises BadSetting."""
        self.version += 1
        self._forget_check(name)
        needed = self.list_needed(name)
        kept, mistakes = settle_values(values, needed, order_setups(name, self.setups))
        self.draft.chosen |= kept
        present = self.mask_kept(name)
        lacking = {
            credential.setting: f"The {credential.name} is needed."
            for credential in needed
            if credential.setting not in present
        }
        for credential in needed:  # what is there is to be written, too, wherever it comes from
            if credential.setting in present:
                self.draft.chosen[credential.setting] = clean_paste(self.draft.find_value(credential.setting))
        return lacking | mistakes

    async def check_platform(self, name: str) -> Sequence[AccessCheck]:
        """Ask a platform about its secrets. Raises BadSetting."""
        self.checks[name] = await self.setups[name].check(self.draft.load_chosen())
        if not list_refusals(self.checks[name]):
            self.accepted.add(name)
        return self.checks[name]

    def take_model(self, name: str, key: str, base: str) -> dict[str, str]:
        """Keep a model, or none for an empty name; returns what is wrong, by setting."""
        self.version += 1
        self.has_model = False
        mistakes = {MODEL: find_model_problem(name), BASE: find_address_problem(base)}
        mistakes[KEY] = find_key_problem(key, name) if key and not mistakes[MODEL] else ""
        if found := {setting: mistake for setting, mistake in mistakes.items() if mistake}:
            return found
        if not name:
            self.draft.chosen = {**self.draft.chosen, MODEL: ""}
            for setting in (KEY, BASE):
                self.draft.chosen.pop(setting, None)
            return {}
        if not (key or self._is_key_kept(name, base)):
            self.draft.chosen[KEY] = ""
        self.draft.chosen |= {MODEL: name, BASE: base, **({KEY: key} if key else {})}
        return {}

    def _is_key_kept(self, name: str, base: str) -> bool:
        """Whether the key that is there may be sent to this model: its server is the same, or else its provider."""
        if base != self.draft.find_value(BASE):
            return False
        return bool(base) or fits_model(self.draft.find_value(KEY), name, self.draft.find_value(MODEL))

    async def check_model(self) -> None:
        """Ask the model a few tiny questions, and estimate what it costs. Raises BadSetting."""
        settings = self.draft.load_chosen()
        uses_any = settings.llm_model or settings.embedding_model
        self.model_checks = await check_models(settings, self.clock) if uses_any else ()
        self.costs = await describe_cost(settings, self.model_checks)
        self.has_model = True

    def list_refusals(self) -> list[str]:
        """What does not work, each as a sentence."""
        refused = [sentence for check in self.checks.values() for sentence in list_refusals(check)]
        return list(dict.fromkeys([*refused, *list_model_mistakes(self.model_checks)]))

    def list_notes(self) -> list[str]:
        """What is worth knowing of the model, or could not be checked now, each as a sentence."""
        found = [problem for check in self.model_checks for problem in check.problems]
        return [
            f"{problem.text} {problem.hint}".strip()
            for problem in found
            if problem.is_warning or problem.is_unreachable
        ]

    def list_values(self) -> list[tuple[str, str]]:
        """The variables that change, and what may be shown of their values. Raises BadSetting."""
        plain = {name_variable(setting) for setting in (MODEL, BASE)}
        return [
            (name, value if name in plain else mask(value)) for name, value in sorted(self.draft.list_changes().items())
        ]

    async def write(self) -> None:
        """Install what is missing, then write the settings. Raises EngineError; then nothing is written."""
        if self.needs_weights:
            package = self.weights_package
            await asyncio.to_thread(weights.install_weights, package, weights.find_installer(package))
        self.changed = await asyncio.to_thread(self.draft.write)
        self.written.set()
