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

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.empties import Empties
from aio_apiserver.registry.base.names import GroupResource, GroupVersionKind
from aio_apiserver.registry.base.request_steps import NoteStep, ignore_step
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.audit.annotations import Annotate, unnoted


class Operation(Enum):
    """The operation of a write."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"

    __hash__ = object.__hash__  # that of Enum is a call in Python, and each write looks its operation up


class Reinvocation(Struct):
    """Whether the mutating plugins are called again, because one changed the object after others had seen it.

    notes: the plugins' memory until then, by their names.
    """

    is_wanted: bool = False
    is_again: bool = False
    notes: dict[str, Any] = field(default_factory=dict)


class Attributes(Struct, frozen=True, kw_only=True):
    """One write, as admission sees it.

    `obj` is None for a deletion and `old` for a creation; mutating plugins change `obj` in place. `version` is that of
    the request's path, `kind` the kind of the objects (a Scale for /scale); the objects are hub objects. `forms` are
    the versions in which the resource is served. `annotate` adds an annotation to the request's audit event.
    `note_step` takes decisions for the console's timeline. `deadline` is that of the request, on the monotonic scale of
    patience; 0 is none. `empties` are the empty lists and maps in the client's body, which the objects leave out.
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
    note_step: NoteStep = ignore_step
    forms: Sequence[AdmissionForm] = ()
    deadline: float = 0.0
    empties: Empties = ()
    reinvocation: Reinvocation = field(default_factory=Reinvocation)


Run = Callable[[Clock], Coroutine[Any, Any, None]]
"""A task that runs until it is cancelled."""


class Plugin:
    """An admission plugin. The base class accepts everything unchanged.

    It is called for its operations on its resources and their subresources. None is for all resources.
    """

    name: str = ""
    operations: frozenset[Operation] = frozenset(Operation)
    resources: frozenset[GroupResource] | None = None

    async def mutate(self, attributes: Attributes) -> None:
        """Change `attributes.obj`, or raise a StatusError."""

    async def validate(self, attributes: Attributes) -> None:
        """Raise a StatusError to refuse."""

    @property
    def runs(self) -> Sequence[Run]:
        """The plugin's tasks for the lifetime of the server."""
        return ()


class Admission(Protocol):
    """The admission chain, as the Store calls it."""

    async def mutate(self, attributes: Attributes) -> None:
        """Change `attributes.obj`. Raises StatusError."""
        ...

    async def validate(self, attributes: Attributes) -> None:
        """Raises StatusError to refuse."""
        ...


class Chain(Struct, frozen=True):
    """The plugins in their order, without metrics."""

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
