"""The REST contracts: what a resource can do.

Handlers know resources by these protocols alone, discovery derives verbs from them, and a provider per group hands out
its resources. What a resource can do is asked with `isinstance`, never by the names of methods. Nothing here waits.

Must hold: objects are hub objects without apiVersion and kind; errors that leave are StatusErrors.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Protocol, runtime_checkable

from msgspec import Struct, field

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.empties import Empties
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.locations import ConnectRequest, Location
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.generic.access.always import AlwaysAllow
from aio_apiserver.registry.generic.access.authentication import Tokens
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
from aio_apiserver.registry.generic.webhook_calls import CallWebhook, OpenWebhook, call_nobody, open_none
from aio_apiserver.registry.machinery.patch.apply.manager import FieldManager
from aio_apiserver.registry.machinery.printing.columns import Columns
from aio_apiserver.registry.machinery.schema import Catalog
from aio_apiserver.storage.clock import Clock
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
from aio_apiserver.storage.stored_object import Object, StoredObject

_MAX_RESOURCE_VERSION = 2**64 - 1

SERVER_MANAGER = "kube-apiserver"
"""The field manager that the server itself is."""

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


class Request(Struct, frozen=True, kw_only=True):
    """Who asks, in which namespace, in which version.

    warn: adds a Warning to the answer. annotate: notes something in the record of the request.

    manager: who writes, unless the options say it; the server itself where no client is named. verb: what authorizers
    call it, where rights to parts of an object hang on it. size: that of what was sent, in bytes.
    empties: what was sent empty. deadline: when nobody waits for the
    answer any more, on the monotonic scale of patience; 0 is never.
    """

    user: UserInfo
    version: str
    warn: Callable[[str], None]
    namespace: str = ""
    manager: str = SERVER_MANAGER
    verb: str = ""
    annotate: Annotate = unnoted
    size: int = 0
    empties: Empties = ()
    deadline: float = 0.0

    def strategy_context(self, now: float, config: Config) -> StrategyContext:
        """What strategies may know of it, at a time."""
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

    empties: what was sent empty in it. owners_known: whether its managed fields are those after the update already.
    """

    obj: Object
    empties: Empties = ()
    owners_known: bool = False


class UpdatedObject(Struct, frozen=True):
    """The wanted state, made from the present one (None when there is none yet): a PUT's body, or a patch.

    `make` is called again after a conflict.
    """

    make: Callable[[StoredObject | None], Awaitable[Made]]
    preconditions: Preconditions | None = None


class Updated(Struct, frozen=True):
    """The outcome of an update."""

    stored: StoredObject
    is_created: bool = False


class Deleted(Struct, frozen=True):
    """The outcome of a deletion: the object's last or present state, and whether it is gone now."""

    stored: StoredObject
    is_gone: bool


class RESTStorage(Protocol):
    """A resource or subresource. `kind` is that of the resource in whose path it stands."""

    @property
    def kind(self) -> Kind: ...

    def object_kind(self, version: str) -> GroupVersionKind:
        """What it takes and gives when it is served in a version: its own kind, Scale for /scale, and so on."""
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
    """Follows changes. `name` watches one object."""

    async def watch(self, request: Request, options: WatchOptions, sink: WatchSink, *, name: str = "") -> Watch:
        """Raises Expired."""
        ...


class Watching(Watcher, Lister, Protocol):
    """What can be watched can be listed."""


@runtime_checkable
class Creater(RESTStorage, Protocol):
    """Makes objects; one that keeps none (a review, a binding) answers with a plain object, its type included."""

    async def create(
        self, request: Request, obj: Object, options: CreateOptions, *, name: str = ""
    ) -> StoredObject | Object:
        """`name` is that of the URL, for subresources. Raises AlreadyExists, Invalid, Forbidden."""
        ...


@runtime_checkable
class Updater(RESTStorage, Protocol):
    """Changes objects."""

    async def update(
        self, request: Request, name: str, updated: UpdatedObject, options: UpdateOptions, *, force_create: bool = False
    ) -> Updated:
        """`force_create` makes a missing object whatever the kind says. Raises NotFound, Conflict, Invalid."""
        ...

    def field_manager(self, version: str) -> FieldManager:
        """Who looks after the owners of fields on this path, and carries out applies."""
        ...


@runtime_checkable
class Deleter(RESTStorage, Protocol):
    """Removes objects, one at a time or all that are selected."""

    async def delete(self, request: Request, name: str, options: DeleteOptions) -> Deleted:
        """Raises NotFound, Conflict, Invalid."""
        ...

    async def delete_collection(self, request: Request, options: DeleteOptions, selected: ListOptions) -> ListResult:
        """The objects that were selected, as they were before."""
        ...


@runtime_checkable
class Connecter(RESTStorage, Protocol):
    """Leads on to somewhere else in the cluster: to a kubelet, a pod, a service."""

    @property
    def verbs(self) -> frozenset[str]:
        """What it takes: verbs of requests, of which discovery tells those that it knows."""
        ...

    @property
    def takes_paths(self) -> bool:
        """Whether the path may go on behind it."""
        ...

    async def connect(self, request: Request, name: str, call: ConnectRequest) -> Location | None:
        """Where to go on; None when there is nothing yet. Raises StatusError."""
        ...


@runtime_checkable
class KindAcceptor(Protocol):
    """Takes bodies of other kinds beside its own."""

    @property
    def accepts(self) -> Collection[GroupVersionKind]: ...


@runtime_checkable
class TableConvertor(Protocol):
    """Says itself how tables show its objects."""

    @property
    def columns(self) -> Columns: ...


ReaderFor = Callable[[Resource], Reader]
"""The objects of a resource, to read and to watch."""
StorageFor = Callable[[Resource], Storage]
"""The storage of a resource, opened once: StorageFactory.storage_for."""


class Foundation(Struct, frozen=True, kw_only=True):
    """What all parts of the registry stand on."""

    storage_for: ReaderFor
    writable_storage_for: StorageFor
    """For the generic Store, and for the few writers past it that tests/house/test_raw_writes.py lists."""
    clock: Clock
    types: Catalog
    config: Config = field(default_factory=Config)
    authorizer: Authorizer = field(default_factory=AlwaysAllow)
    tokens: Tokens = field(default_factory=lambda: Tokens((), ()))
    issuer: TokenIssuer = field(default_factory=TokenIssuer)
    kinds: KindLookup = field(default_factory=NoKinds)
    metrics: MetricSets = field(default_factory=MetricSets)
    call_webhook: CallWebhook = call_nobody
    open_webhook: OpenWebhook = open_none
    probe: Probe = probe_nothing


class Environment(Foundation, frozen=True, kw_only=True):
    """What every provider is given."""

    admission: Admission
    runs: Sequence[Run] = ()
    """What has to go on while the server runs: plugins follow the objects that they depend on."""


class RESTStorageProvider(Protocol):
    """One API group: its resources by version and path (`deployments`, `deployments/scale`)."""

    @property
    def group(self) -> APIGroup: ...

    def storages(self, environment: Environment) -> Mapping[str, Mapping[str, RESTStorage]]:
        """Versions in order of preference."""
        ...


def success() -> Object:
    """The answer to a request that made something happen and left nothing to show."""
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def timestamp(when: float) -> str:
    """A time as metadata has it: RFC 3339 in UTC, whole seconds."""
    return datetime.fromtimestamp(int(when), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_resource_version(text: str) -> int:
    """A resourceVersion of an object; 0 when there is none. Raises a bare StatusError, as kube-apiserver does."""
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()):
        raise errors.StatusError(f"strconv.ParseUint: parsing {quote(text)}: invalid syntax")
    if len(text) > len(str(_MAX_RESOURCE_VERSION)) or int(text) > _MAX_RESOURCE_VERSION:
        raise errors.StatusError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return int(text)
