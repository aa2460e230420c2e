"""REST: the contracts of a resource's storage, after rest.Storage, Getter, Lister and so on of kube-apiserver.

Handlers know resources by these protocols, discovery derives verbs from them, and a provider per group makes its
resources. `isinstance` tells whether a resource implements a protocol. Nothing here waits.

Must hold: objects are hub objects without apiVersion and kind. All errors are StatusErrors.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol, runtime_checkable

from msgspec import Struct, field

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.empties import Empties
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.locations import ConnectRequest, Location
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.base.request_steps import NoteStep, ignore_step
from aio_apiserver.registry.generic.access.always import AlwaysAllow
from aio_apiserver.registry.generic.access.authentication import KnownTokens, Tokens
from aio_apiserver.registry.generic.access.authorizer import Authorizer
from aio_apiserver.registry.generic.access.token_issuer import TokenIssuer
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.admission.interface import Admission, Run
from aio_apiserver.registry.generic.audit.annotations import Annotate, unnoted
from aio_apiserver.registry.generic.component_probes import Probe, probe_nothing
from aio_apiserver.registry.generic.config import Config
from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.kind_lookup import KindLookup, NoKinds
from aio_apiserver.registry.generic.metric_sets import MetricSets
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions, UpdateOptions
from aio_apiserver.registry.generic.strategy import StrategyContext
from aio_apiserver.registry.generic.webhook_calls import CallWebhook, OpenWebhook, call_none, open_none
from aio_apiserver.registry.machinery.patch.apply.manager import FieldManager
from aio_apiserver.registry.machinery.printing.columns import Columns
from aio_apiserver.registry.machinery.schema import Catalog
from aio_apiserver.storage.interface import (
    ListOptions,
    ListResult,
    Preconditions,
    Reader,
    Resource,
    Storage,
    Watch,
    WatchOptions,
    WatchSink,
)
from aio_apiserver.storage.stored_object import StoredObject

_MAX_RESOURCE_VERSION = 2**64 - 1

SERVER_MANAGER = "kube-apiserver"
"""The field manager of the server itself."""

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


class Request(Struct, frozen=True, kw_only=True):
    """A request: its user, version and namespace, without HTTP.

    warn: adds a Warning header to the answer. annotate: adds an annotation to the audit event. note_step: takes
    steps of the request for the console's timeline. manager: the field manager, unless the options name one; the server
    itself when no client is named. verb: the authorizers' verb, for rights to parts of an object. size: the size of the
    request body in bytes. empties: the empty lists and maps in the body. deadline: the end of the client's timeout, on
    the monotonic scale of patience; 0 is never.
    """

    user: UserInfo
    version: str
    warn: Callable[[str], None]
    namespace: str = ""
    manager: str = SERVER_MANAGER
    verb: str = ""
    annotate: Annotate = unnoted
    note_step: NoteStep = ignore_step
    size: int = 0
    empties: Empties = ()
    deadline: float = 0.0

    def strategy_context(self, now: float, config: Config) -> StrategyContext:
        """The part of the request that strategies see, at a time."""
        return StrategyContext(
            namespace=self.namespace,
            user=self.user,
            now=now,
            warn=self.warn,
            allows_privileged=config.allow_privileged,
            empties=self.empties,
        )


class Made(Struct, frozen=True):
    """The wanted state of an object, which the Store then owns.

    empties: the empty lists and maps in the client's body. owners_known: whether its managed fields include the update
    already.
    """

    obj: Object
    empties: Empties = ()
    owners_known: bool = False


class UpdatedObject(Struct, frozen=True):
    """Makes the wanted state from the present one (None when there is none yet): a PUT's body, or a patch.

    `make` is called again after a conflict.
    """

    make: Callable[[StoredObject | None], Awaitable[Made]]
    preconditions: Preconditions | None = None


class Updated(Struct, frozen=True):
    """The outcome of an update."""

    stored: StoredObject
    is_created: bool = False


class Deleted(Struct, frozen=True):
    """The outcome of a deletion: the object's last or present state, and whether it has been removed.

    is_readable: whether the state can be decoded.
    """

    stored: StoredObject
    is_gone: bool
    is_readable: bool = True


class RESTStorage(Protocol):
    """A resource or subresource. `kind` is that of the resource in the URL."""

    @property
    def kind(self) -> Kind: ...

    def object_kind(self, version: str) -> GroupVersionKind:
        """The kind of its objects in a version: its own kind, Scale for /scale, and so on."""
        ...


@runtime_checkable
class Getter(RESTStorage, Protocol):
    """Reads one object."""

    async def get(self, request: Request, name: str, *, resource_version: int | None = None) -> StoredObject:
        """Raises NotFound, TooLargeResourceVersion."""
        ...


@runtime_checkable
class Lister(RESTStorage, Protocol):
    """Reads many objects."""

    async def list(self, request: Request, options: ListOptions) -> ListResult:
        """Raises Expired, BadRequest."""
        ...


@runtime_checkable
class Watcher(RESTStorage, Protocol):
    """Watches changes. `name` watches one object."""

    async def watch(self, request: Request, options: WatchOptions, sink: WatchSink, *, name: str = "") -> Watch:
        """Raises Expired."""
        ...


class Watching(Watcher, Lister, Protocol):
    """A resource that can be watched and listed."""


@runtime_checkable
class Creater(RESTStorage, Protocol):
    """Creates objects; one that stores none (a review, a binding) returns a plain object with its type."""

    async def create(
        self, request: Request, obj: Object, options: CreateOptions, *, name: str = ""
    ) -> StoredObject | Object:
        """`name` is that of the URL, for subresources. Raises AlreadyExists, Invalid, Forbidden."""
        ...


@runtime_checkable
class Updater(RESTStorage, Protocol):
    """Updates objects."""

    async def update(
        self, request: Request, name: str, updated: UpdatedObject, options: UpdateOptions, *, force_create: bool = False
    ) -> Updated:
        """`force_create` creates a missing object even if the kind does not allow that. Raises NotFound, Conflict,
        Invalid.
        """
        ...

    def field_manager(self, version: str) -> FieldManager:
        """The field manager of this path, which also carries out applies."""
        ...


@runtime_checkable
class Deleter(RESTStorage, Protocol):
    """Deletes objects, one at a time or all that are selected."""

    async def delete(self, request: Request, name: str, options: DeleteOptions) -> Deleted:
        """Raises NotFound, Conflict, Invalid."""
        ...

    async def delete_collection(self, request: Request, options: DeleteOptions, selected: ListOptions) -> ListResult:
        """The selected objects, as they were before."""
        ...


@runtime_checkable
class Connecter(RESTStorage, Protocol):
    """Connects the client to a kubelet, a pod or a service: exec, proxy, logs."""

    @property
    def verbs(self) -> frozenset[str]:
        """The verbs of requests that it takes; discovery shows the known ones of them."""
        ...

    @property
    def takes_paths(self) -> bool:
        """Whether a path may follow the subresource."""
        ...

    async def connect(self, request: Request, name: str, call: ConnectRequest) -> Location | None:
        """The address to connect to; None when there is none yet. Raises StatusError."""
        ...


@runtime_checkable
class KindAcceptor(Protocol):
    """Takes bodies of other kinds beside its own."""

    @property
    def accepts(self) -> Collection[GroupVersionKind]: ...


@runtime_checkable
class TableConvertor(Protocol):
    """Has its own table columns."""

    @property
    def columns(self) -> Columns: ...


ReaderFor = Callable[[Resource], Reader]
"""Opens a resource's objects for reads and watches."""
StorageFor = Callable[[Resource], Storage]
"""The storage of a resource, opened once: StorageFactory.storage_for."""
CustomStorage = Callable[[str, str, str], Reader | None]
"""The open storage of a custom resource, by group, plural and version; None without an offer: StorageFactory.opened."""


def no_custom_storage(_group: str, _plural: str, _version: str) -> Reader | None:
    """The storage of a server without custom resources."""
    return None


class Foundation(Struct, frozen=True, kw_only=True):
    """The dependencies of all parts of the registry."""

    storage_for: ReaderFor
    writable_storage_for: StorageFor
    """For the generic Store, and for the few writers past it that tests/house/test_raw_writes.py lists."""
    clock: Clock
    types: Catalog
    custom_storage: CustomStorage = no_custom_storage
    minor: Minor = Minor()
    """The Kubernetes minor of the server, by which assembly chooses among the facts."""
    config: Config = field(default_factory=Config)
    authorizer: Authorizer = field(default_factory=AlwaysAllow)
    tokens: Tokens = field(default_factory=lambda: Tokens(KnownTokens({}, ()), (), ()))
    issuer: TokenIssuer = field(default_factory=TokenIssuer)
    kinds: KindLookup = field(default_factory=NoKinds)
    metrics: MetricSets = field(default_factory=MetricSets)
    call_webhook: CallWebhook = call_none
    open_webhook: OpenWebhook = open_none
    probe: Probe = probe_nothing


class Environment(Foundation, frozen=True, kw_only=True):
    """The dependencies of every provider."""

    admission: Admission
    runs: Sequence[Run] = ()
    """The admission plugins' tasks for the lifetime of the server: they watch objects that they depend on."""


class RESTStorageProvider(Protocol):
    """One API group: its resources by version and path (`deployments`, `deployments/scale`)."""

    @property
    def group(self) -> APIGroup: ...

    def at(self, minor: Minor) -> "RESTStorageProvider":
        """The group as a minor has it."""
        ...

    def storages(self, environment: Environment) -> Mapping[str, Mapping[str, RESTStorage]]:
        """Versions in order of preference."""
        ...


def success() -> Object:
    """The Status of a successful request without an object to return."""
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def timestamp(when: float) -> str:
    """A time in the form of metadata: RFC 3339 in UTC, whole seconds."""
    return _second(int(when))


@lru_cache(maxsize=16)
def _second(when: int) -> str:
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_resource_version(text: str) -> int:
    """The resourceVersion of an object; 0 when it is empty. Raises a bare StatusError, as kube-apiserver does."""
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()):
        raise errors.StatusError(f"strconv.ParseUint: parsing {quote(text)}: invalid syntax")
    if len(text) > len(str(_MAX_RESOURCE_VERSION)) or int(text) > _MAX_RESOURCE_VERSION:
        raise errors.StatusError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return int(text)
