"""As whom the test asks: people, guests, managers, spaces of the terminal, and holders of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bot.capabilities.caller import ALL_PERMISSIONS
from bot.store import Subject
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.platform.models import Location
    from bot.store import BotStore, Permission

AskerKind = Literal["member", "guest", "manager", "space", "ended", "expired", "forged", "left"]
INVENTED: tuple[AskerKind, ...] = ("member", "guest", "manager")
PREFIX = "leak-test-"  # of the ids of invented people
AS_HINT = "Known are member, guest, manager, space, @PERSON, PLATFORM:WORKSPACE:ID and token:ID."


@dataclass(frozen=True, slots=True)
class LeakAsker:
    """Who asks. `kind`: "ended" has a revoked token, "left" a token of a person who left the workspace.

    "forged" has one with another secret.
    """

    name: str
    kind: AskerKind
    subject: Subject
    permissions: tuple[Permission, ...] = tuple(ALL_PERMISSIONS)

    @property
    def is_person(self) -> bool:
        """Whether it is somebody who can use the chat."""
        return self.kind in INVENTED

    @property
    def can_speak(self) -> bool:
        """Whether events of theirs may come from the chat: those of somebody who left may still be in the queue."""
        return self.is_person or self.kind == "left"

    @property
    def is_shut_out(self) -> bool:
        """Whether nothing at all may be answered."""
        return self.kind not in {*INVENTED, "space"}


def invent_asker(kind: AskerKind, place: Location, name: str = "") -> LeakAsker:
    """An invented person in a workspace."""
    return LeakAsker(name or kind, kind, Subject(place.platform, place.workspace, f"{PREFIX}{kind}"))


def list_shut_out(place: Location) -> list[LeakAsker]:
    """Who must learn nothing, or little: tests of the checks of tokens themselves."""
    limited = Subject(place.platform, place.workspace, f"{PREFIX}limited")
    return [
        invent_asker("ended", place, "revoked token"),
        invent_asker("expired", place, "expired token"),
        invent_asker("forged", place, "forged token"),
        invent_asker("left", place, "left the workspace"),
        LeakAsker("token to ask only", "member", limited, ("ask",)),
    ]


async def find_asker(words: str, store: BotStore, place: Location, space: str) -> LeakAsker:
    """The asker whom somebody names. `place`: the workspace of those who are invented, `space`: of the terminal.

    Raises InvalidQuestion for other words, NotFound for a person or a token that the store does not know.
    """
    if words == "space":
        return LeakAsker(words, "space", Subject(space=space))
    kind = next((each for each in INVENTED if each == words), None)
    if kind is not None:
        return invent_asker(kind, place)
    kind_of_words, _, rest = words.partition(":")
    if kind_of_words == "token":
        return await _find_token(words, rest, store)
    if words.startswith("@") or words.count(":") == len(("platform", "workspace")):
        return LeakAsker(words, "member", await _find_person(words, store, place))
    raise InvalidQuestion(f"“{words}” names nobody who could ask.", hint=AS_HINT)


async def _find_token(words: str, id_: str, store: BotStore) -> LeakAsker:
    found = next((each for each in await store.access_tokens.list_all() if each.id == id_), None)
    if found is None:
        raise NotFound(f"There is no access token {id_}.", hint="`threadlore token list` lists them.")
    return LeakAsker(words, "space" if found.subject.space else "member", found.subject, found.permissions)


async def _find_person(words: str, store: BotStore, place: Location) -> Subject:
    if not words.startswith("@"):
        platform, workspace, person = words.split(":")
        return Subject(platform, workspace, person)
    wanted = words.removeprefix("@")
    for known in await _list_people(store, place):
        if known.casefold() == wanted.casefold():
            return Subject(place.platform, place.workspace, known)
    raise NotFound(f"Nobody with the id {wanted} wrote anything that is stored.", hint=AS_HINT)


async def _list_people(store: BotStore, place: Location) -> Sequence[str]:
    """The ids of those who wrote in a workspace."""
    return await store.messages.list_frequent_authors(place.platform, place.workspace, MAX_PEOPLE)


MAX_PEOPLE = 100_000
