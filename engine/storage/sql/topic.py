"""Topics: classes that hold the SQL of one topic in their methods, for two uses.

On a database, each public method is awaited, and runs in a snapshot or a transaction of its own. On a connection,
inside a bigger transaction, it is called. `Class.method` is a SQL function: its first parameter is the connection.
"""

from __future__ import annotations

from functools import partial, wraps
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, overload

from engine.storage.sql.database import SqlDatabase

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from engine.storage.sql.connection import Connection

Place_co = TypeVar("Place_co", bound="Connection | SqlDatabase", covariant=True)
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


class Topic(Generic[Place_co]):
    """What is read and written of one topic, on a connection or on a database."""

    db: Connection
    database: SqlDatabase | None = None

    def __init__(self, place: Place_co) -> None:
        if isinstance(place, SqlDatabase):
            self.database = place
        else:
            self.db = place


class TopicMethod(Generic[Arguments, Result]):
    """A method that a database runs in a transaction of its own, and a connection in the present one."""

    def __init__(
        self, function: Callable[Concatenate[Any, Arguments], Result], access: Literal["read", "write"]
    ) -> None:
        self._function = function
        self._access = access
        self._works = dict[Any, Any]()  # the function of a connection for each class

    @overload
    def __get__(self, topic: None, owner: type) -> Callable[Concatenate[Connection, Arguments], Result]: ...
    @overload
    def __get__(
        self, topic: Topic[SqlDatabase], owner: object = None
    ) -> Callable[Arguments, Coroutine[Any, Any, Result]]: ...
    @overload
    def __get__(self, topic: Topic[Any], owner: object = None) -> Callable[Arguments, Result]: ...
    def __get__(self, topic: Topic[Any] | None, owner: Any = None) -> Any:
        if topic is not None and topic.database is None:
            return MethodType(self._function, topic)
        work = self._works.get(owner) or self._works.setdefault(owner, self._bind(owner))
        return work if topic is None else partial(getattr(topic.database, self._access), work)

    def _bind(self, owner: Callable[[Connection], object]) -> Callable[Concatenate[Connection, Arguments], Result]:
        @wraps(self._function)
        def work(db: Connection, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            return self._function(owner(db), *args, **kwargs)

        return work


def reading(function: Callable[Concatenate[Any, Arguments], Result]) -> TopicMethod[Arguments, Result]:
    """A method that reads: on a database, in a snapshot of its own."""
    return TopicMethod(function, "read")


def writing(function: Callable[Concatenate[Any, Arguments], Result]) -> TopicMethod[Arguments, Result]:
    """A method that writes: on a database, in a transaction of its own, durable when it returns."""
    return TopicMethod(function, "write")
