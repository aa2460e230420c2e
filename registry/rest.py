"""The REST contracts: what a resource can do, and the common part of create, update and delete.

Handlers know resources by these protocols alone, discovery derives verbs from them, and a provider per group hands out
its resources. Nothing here waits: before_create, before_update and before_delete work on objects in hand.

Must hold: objects are hub objects without apiVersion and kind; errors that leave are StatusErrors.
"""

import secrets
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from registry import errors, objects
from registry.access.always import AlwaysAllow
from registry.access.authentication import Tokens
from registry.access.authorizer import Authorizer
from registry.access.token_issuer import TokenIssuer
from registry.access.users import UserInfo
from registry.admission.chain import AdmissionMetrics
from registry.admission.interface import Admission, Run
from registry.audit.annotations import Annotate, unnoted
from registry.config import Config
from registry.kind import Kind
from registry.locations import Call, Location
from registry.names import GroupResource, GroupVersionKind
from registry.options import CreateOptions, DeleteOptions, UpdateOptions, check_delete
from registry.patch.apply.manager import FieldManager
from registry.quoting import quote
from registry.schema import Catalog
from registry.strategy import Strategy, StrategyContext
from registry.validation import names, object_meta
from registry.validation.errors import invalid_of
from registry.webhook_calls import CallWebhook, call_nobody
from storage.clock import Clock
from storage.interface import (
    ListOptions,
    ListResult,
    Preconditions,
    Resource,
    Storage,
    Watch,
    WatchOptions,
    WatchSink,
)
from storage.stored_object import Object, StoredObject

_MAX_RESOURCE_VERSION = 2**64 - 1
_LONGEST_GRACE = (2**63 - 1) // 10**9
"""Seconds: as long as a duration can be where nanoseconds are counted in 64 bits, some 292 years."""

SERVER_MANAGER = "kube-apiserver"
"""The field manager that the server itself is."""

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Who asks, in which namespace, in which version.

    warn: adds a Warning to the answer. annotate: notes something in the record of the request.

    manager: who writes, unless the options say it; the server itself where no client is named. verb: what authorizers
    call it, where rights to parts of an object hang on it.
    """

    user: UserInfo
    version: str
    warn: Callable[[str], None]
    namespace: str = ""
    manager: str = SERVER_MANAGER
    verb: str = ""
    annotate: Annotate = unnoted

    def strategy_context(self, now: float, config: Config) -> StrategyContext:
        """What strategies may know of it, at a time."""
        return StrategyContext(
            namespace=self.namespace,
            user=self.user,
            now=now,
            warn=self.warn,
            allows_privileged=config.allow_privileged,
        )


@dataclass(frozen=True, slots=True)
class UpdatedObject:
    """The wanted state, made from the present one (None when there is none yet): a PUT's body, or a patch.

    `make` is called again after a conflict and returns an object that the Store then owns. knows_managers: its managed
    fields are those after the update already.
    """

    make: Callable[[StoredObject | None], Awaitable[Object]]
    preconditions: Preconditions | None = None
    knows_managers: bool = False


@dataclass(frozen=True, slots=True)
class Updated:
    """The outcome of an update."""

    stored: StoredObject
    is_created: bool = False


@dataclass(frozen=True, slots=True)
class Deleted:
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


class Getter(RESTStorage, Protocol):
    """Reads one object."""

    async def get(self, request: Request, name: str, *, resource_version: int | None = None) -> StoredObject:
        """Raises NotFound, TooLargeResourceVersion."""
        ...


class Lister(RESTStorage, Protocol):
    """Reads many objects."""

    async def list(self, request: Request, options: ListOptions) -> ListResult:
        """Raises Expired, BadRequest."""
        ...


class Watcher(RESTStorage, Protocol):
    """Follows changes. `name` watches one object."""

    async def watch(self, request: Request, options: WatchOptions, sink: WatchSink, *, name: str = "") -> Watch:
        """Raises Expired."""
        ...


class Watching(Watcher, Lister, Protocol):
    """What can be watched can be listed."""


class Creater(RESTStorage, Protocol):
    """Makes objects; one that keeps none (a review, a binding) answers with a plain object, its type included."""

    async def create(
        self, request: Request, obj: Object, options: CreateOptions, *, name: str = ""
    ) -> StoredObject | Object:
        """`name` is that of the URL, for subresources. Raises AlreadyExists, Invalid, Forbidden."""
        ...


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


class Deleter(RESTStorage, Protocol):
    """Removes objects, one at a time or all that are selected."""

    async def delete(self, request: Request, name: str, options: DeleteOptions) -> Deleted:
        """Raises NotFound, Conflict, Invalid."""
        ...

    async def delete_collection(self, request: Request, options: DeleteOptions, selected: ListOptions) -> ListResult:
        """The objects that were selected, as they were before."""
        ...


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

    async def connect(self, request: Request, name: str, call: Call) -> Location | None:
        """Where to go on; None when there is nothing yet. Raises StatusError."""
        ...


StorageFor = Callable[[Resource], Storage]
"""The storage of a resource, opened once: StorageFactory.storage_for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foundation:
    """What all parts of the registry stand on."""

    storage_for: StorageFor
    clock: Clock
    types: Catalog
    config: Config = field(default_factory=Config)
    authorizer: Authorizer = field(default_factory=AlwaysAllow)
    tokens: Tokens = field(default_factory=lambda: Tokens((), ()))
    issuer: TokenIssuer = field(default_factory=TokenIssuer)
    admission_metrics: AdmissionMetrics = field(default_factory=AdmissionMetrics)
    call_webhook: CallWebhook = call_nobody


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment(Foundation):
    """What every provider is given."""

    admission: Admission
    runs: Sequence[Run] = ()
    """What has to go on while the server runs: plugins follow the objects that they depend on."""


class RESTStorageProvider(Protocol):
    """One API group: its resources by version and path (`deployments`, `deployments/scale`)."""

    @property
    def group(self) -> str: ...

    def storages(self, environment: Environment) -> Mapping[str, Mapping[str, RESTStorage]]:
        """Versions in order of preference."""
        ...


def success() -> Object:
    """The answer to a request that made something happen and left nothing to show."""
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def timestamp(when: float) -> str:
    """A time as metadata has it: RFC 3339 in UTC, whole seconds."""
    return datetime.fromtimestamp(int(when), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def wipe_system_fields(metadata: dict[str, Any]) -> None:
    """Take off what a client cannot say of a new object."""
    for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
        metadata.pop(name, None)


def fill_system_fields(obj: Object, *, now: float) -> None:
    """Give a new object its uid and creation time; what a client says of them does not count."""
    metadata = obj["metadata"]
    wipe_system_fields(metadata)
    metadata["uid"] = str(uuid.uuid4())
    metadata["creationTimestamp"] = timestamp(now)


_GENERATED_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_GENERATED_LENGTH = 5
_NAME_LIMIT = 63


def generate_name(prefix: str) -> str:
    """A name that begins with the prefix, cut so that the whole fits a DNS label."""
    suffix = "".join(secrets.choice(_GENERATED_ALPHABET) for _ in range(_GENERATED_LENGTH))
    return prefix[: _NAME_LIMIT - _GENERATED_LENGTH] + suffix


def settle_namespace(obj: Object, request: Request, kind: Kind) -> None:
    """Put the request's namespace on the object, or take it off one that has none; refuse one that says another."""
    wanted = request.namespace if kind.is_namespaced else ""
    metadata = obj["metadata"]
    given = metadata.get("namespace", "")
    if given == wanted:
        return
    if given and kind.is_namespaced:
        raise errors.BadRequest("the namespace of the provided object does not match the namespace sent on the request")
    if wanted:
        metadata["namespace"] = wanted
    else:
        del metadata["namespace"]


def before_create(kind: Kind, strategy: Strategy, *, request: Request, obj: Object, context: StrategyContext) -> None:
    """Make an object ready to be stored. Raises Invalid with everything that is wrong."""
    settle_namespace(obj, request, kind)
    strategy.prepare_for_create(context, obj)
    found = object_meta.validate(obj["metadata"], is_namespaced=kind.is_namespaced, check_name=strategy.check_name)
    found += strategy.validate(context, obj)
    if found:
        raise invalid_of(kind.group_kind, obj["metadata"].get("name", ""), found)
    for warning in strategy.warnings_on_create(context, obj):
        request.warn(warning)
    strategy.canonicalize(obj)


def before_update(
    kind: Kind, strategy: Strategy, *, request: Request, new: Object, old: Object, context: StrategyContext
) -> None:
    """Make a changed object ready to be stored. Raises Invalid with everything that is wrong."""
    settle_namespace(new, request, kind)
    objects.carry_over(new["metadata"], old["metadata"], "generation")
    strategy.prepare_for_update(context, new, old)
    _keep_system_fields(new["metadata"], old["metadata"])
    found = object_meta.validate(new["metadata"], is_namespaced=kind.is_namespaced, check_name=names.is_path_segment)
    found += object_meta.validate_update(new["metadata"], old["metadata"])
    found += strategy.validate_update(context, new, old)
    if found:
        raise invalid_of(kind.group_kind, new["metadata"].get("name", ""), found)
    for warning in strategy.warnings_on_update(context, new, old):
        request.warn(warning)
    strategy.canonicalize(new)


def _keep_system_fields(new: dict[str, Any], old: dict[str, Any]) -> None:
    new.pop("selfLink", None)
    if not new.get("uid") and "uid" in old:
        new["uid"] = old["uid"]
    for name in ("creationTimestamp", "deletionTimestamp"):
        if old.get(name):
            new[name] = old[name]
    if old.get("deletionGracePeriodSeconds") is not None and new.get("deletionGracePeriodSeconds") is None:
        new["deletionGracePeriodSeconds"] = old["deletionGracePeriodSeconds"]


def parse_resource_version(text: str) -> int:
    """A resourceVersion of an object; 0 when there is none. Raises a bare StatusError, as kube-apiserver does."""
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()):
        raise errors.StatusError(f"strconv.ParseUint: parsing {quote(text)}: invalid syntax")
    if len(text) > len(str(_MAX_RESOURCE_VERSION)) or int(text) > _MAX_RESOURCE_VERSION:
        raise errors.StatusError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return int(text)


@dataclass(frozen=True, slots=True)
class Grace:
    """How a deletion goes on: `is_graceful` by degrees, `is_pending` it does already; with what options."""

    options: DeleteOptions
    is_graceful: bool = False
    is_pending: bool = False


def before_delete(kind: Kind, strategy: Strategy, *, obj: Object, options: DeleteOptions, now: float) -> Grace:
    """Decide on grace, and mark the object when its deletion begins or is shortened. Raises Invalid, Conflict."""
    check_delete(options)
    metadata = obj["metadata"]
    _check_preconditions(kind, metadata, options.preconditions)
    if options.grace_period_seconds is not None and options.grace_period_seconds < 0:
        options = replace(options, grace_period_seconds=1)
    if metadata.get("deletionGracePeriodSeconds", 0) < 0:
        metadata["deletionGracePeriodSeconds"] = 1
    period = strategy.check_graceful_delete(obj, options)
    if period is None:
        return Grace(options)
    if metadata.get("deletionTimestamp"):
        return _shorten(metadata, options, now=now)
    period = min(period, _LONGEST_GRACE)
    options = replace(options, grace_period_seconds=period)
    metadata["deletionTimestamp"] = timestamp(now + period)
    metadata["deletionGracePeriodSeconds"] = period
    if metadata.get("generation", 0) > 0:
        metadata["generation"] += 1
    return Grace(options, is_graceful=True)


def _check_preconditions(kind: Kind, metadata: dict[str, Any], preconditions: Preconditions | None) -> None:
    if preconditions is None:
        return
    # The resource of this message is the kind: so it is upstream, and clients compare messages.
    subject = GroupResource(kind.group, kind.kind)
    if preconditions.uid is not None and preconditions.uid != metadata.get("uid", ""):
        why = (
            f"the UID in the precondition ({preconditions.uid}) does not match the UID in record "
            f"({metadata.get('uid', '')}). The object might have been deleted and then recreated"
        )
        raise errors.Conflict(subject, metadata["name"], why=why)
    if preconditions.resource_version is not None and preconditions.resource_version != metadata["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({preconditions.resource_version}) does not match "
            f"the ResourceVersion in record ({metadata['resourceVersion']}). The object might have been modified"
        )
        raise errors.Conflict(subject, metadata["name"], why=why)


def _shorten(metadata: dict[str, Any], options: DeleteOptions, *, now: float) -> Grace:
    """A second deletion of an object that is ending: it can end sooner, never later."""
    left = metadata.get("deletionGracePeriodSeconds", 0)
    if left == 0:
        return Grace(options)
    period = options.grace_period_seconds
    if period is None:
        return Grace(replace(options, grace_period_seconds=left), is_pending=True)
    if period >= left:
        return Grace(options, is_pending=True)
    ends = datetime.fromisoformat(metadata["deletionTimestamp"]) - timedelta(seconds=left - period)
    if ends.timestamp() < int(now):
        ends = datetime.fromtimestamp(int(now), UTC)
        period = 1 if period else 0
    metadata["deletionTimestamp"] = timestamp(ends.timestamp())
    metadata["deletionGracePeriodSeconds"] = period
    return Grace(replace(options, grace_period_seconds=period), is_graceful=True)
