"""Interface: the contract of admission plugins, and of the chain that calls them.

Mutating plugins run in order on the object of a write. After the strategy, validating plugins run on the object that
will be stored. Must hold: each write of the generic Store passes the whole chain once per attempt (create, update,
patch, delete, deletecollection, subresources). A plugin refuses a write by raising a StatusError.

Some modules write past the generic Store; tests/house/test_raw_writes.py lists them.
"""

from collections.abc import Callable, Coroutine, Sequence
from enum import Enum
from typing import Any, Protocol

from msgspec import Struct, field

from aio_apiserver.registry.base.names import GroupResource, GroupVersionKind
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.audit.annotations import Annotate, unnoted
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.stored_object import Object


class Operation(Enum):
    """What is being done."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


class Reinvocation(Struct):
    """Whether the mutating plugins are called once more, because one changed what others had seen before.

    notes: what plugins remember until then, by their names.
    """

    is_wanted: bool = False
    is_again: bool = False
    notes: dict[str, Any] = field(default_factory=dict)


class Attributes(Struct, frozen=True, kw_only=True):
    """One write, as admission sees it.

    `obj` is None for a deletion and `old` for a creation; mutating plugins change `obj` in place. `version` is that of
    the request's path, `kind` what the objects are (a Scale for /scale); the objects are hub objects. `forms` are all
    that the resource in the path is served in. `annotate` notes something in the audit's record of the request.
    `deadline` is that of the request, on the monotonic scale of patience; 0 is none.
    """

    operation: Operation
    resource: GroupResource
    version: str
    kind: GroupVersionKind
    subresource: str
    namespace: str
    name: str
    obj: Object | None
    old: Object | None
    options: Any
    is_dry_run: bool
    user: UserInfo
    warn: Callable[[str], None]
    annotate: Annotate = unnoted
    forms: Sequence[AdmissionForm] = ()
    deadline: float = 0.0
    reinvocation: Reinvocation = field(default_factory=Reinvocation)


Run = Callable[[Clock], Coroutine[Any, Any, None]]
"""Goes on until it is cancelled."""


class Plugin:
    """A rule. The base class accepts everything unchanged; `operations` are those for which it is called."""

    name: str = ""
    operations: frozenset[Operation] = frozenset(Operation)

    async def mutate(self, attributes: Attributes) -> None:
        """Change `attributes.obj`, or raise a StatusError."""

    async def validate(self, attributes: Attributes) -> None:
        """Raise a StatusError to refuse."""

    @property
    def runs(self) -> Sequence[Run]:
        """What has to go on for it while the server runs."""
        return ()


class Admission(Protocol):
    """What the Store calls."""

    async def mutate(self, attributes: Attributes) -> None:
        """Change `attributes.obj`. Raises StatusError."""
        ...

    async def validate(self, attributes: Attributes) -> None:
        """Raises StatusError to refuse."""
        ...


class Chain(Struct, frozen=True):
    """The plugins in their order."""

    plugins: Sequence[Plugin] = field(default=())

    async def mutate(self, attributes: Attributes) -> None:
        """Let every plugin change the object."""
        for plugin in self.plugins:
            if attributes.operation in plugin.operations:
                await plugin.mutate(attributes)

    async def validate(self, attributes: Attributes) -> None:
        """Let every plugin refuse the object."""
        for plugin in self.plugins:
            if attributes.operation in plugin.operations:
                await plugin.validate(attributes)
