"""Kind: the facts of one resource: names, versions, verbs, selectable fields, rules, columns.

A kind's file declares one Kind, and a group's provider lists them. Discovery, routes, storage and tables are made from
it. Must hold: `versions` has the preferred version first, which is also the stored one. A hub object is in that
version, and has neither apiVersion nor kind.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import timeline
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.base.names import GroupKind, GroupResource, GroupVersionKind
from aio_apiserver.registry.base.timeline import Before, Version
from aio_apiserver.registry.generic import common_history
from aio_apiserver.registry.generic.deprecations import Deprecation
from aio_apiserver.registry.generic.error_history import ErrorRow, WarningRow, errors_at, warnings_at
from aio_apiserver.registry.generic.strategy import Strategy
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType
from aio_apiserver.registry.machinery.printing.columns import BY_AGE, Columns
from aio_apiserver.registry.machinery.view import Conversion

_STRATEGIES = ("strategy", "status_strategy")
ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


class Scale(Struct, frozen=True):
    """The fields of a kind for /scale. Paths are dotted; `selector` may be a label selector or its text."""

    spec_replicas: str = "spec.replicas"
    status_replicas: str = "status.replicas"
    selector: str = "spec.selector"


class Kind(Struct, frozen=True, kw_only=True, dict=True):
    """One resource with objects in storage."""

    group: str
    plural: str
    kind: str
    versions: Sequence[str] = ("v1",)
    beta_versions: Sequence[str] = ()
    """Further versions in the shape of the hub, which are served when --runtime-config enables them."""
    is_namespaced: bool = True
    short_names: Sequence[str] = ()
    categories: Sequence[str] = ()
    verbs: Sequence[str] = ALL_VERBS

    strategy: Strategy = field(default_factory=Strategy)
    status_strategy: Strategy | None = None
    """The strategy of /status; None when the kind has no such subresource."""
    scale: Scale | None = None
    returns_deleted_object: bool = False
    """Whether a DELETE that took effect answers with the object rather than with a Status."""
    hides_deleted_object: bool = False
    """Whether OpenAPI wrongly describes the answer to a DELETE as a Status: upstream does so."""

    fields: Mapping[str, Callable[[Object], str]] = field(default_factory=dict)
    """Selectable fields beyond metadata.name and metadata.namespace."""
    field_aliases: Mapping[str, str] = field(default_factory=dict)
    """Further names in field selectors, and their fields."""
    unknown_field_message: str = "field label not supported: {name}"
    """The message for an unknown field in a field selector, for a kind with fields of its own."""
    triggers: Sequence[str] = ()
    """Selectable fields by which many watchers select one value each."""
    columns: Columns = BY_AGE
    """The columns of its tables."""
    deprecation: str = ""
    """The warning in the answer to every request for it."""
    deprecations: Mapping[str, Deprecation] = field(default_factory=dict)
    """By version, where one is deprecated in some minors; in a kind of one minor, those in effect."""
    inner_annotations: frozenset[str] = frozenset()
    """Annotations that stand for fields of kube-apiserver's internal type; PartialObjectMetadata does not show them."""
    decorate: Callable[[Object], None] | None = None
    """Completes, in place, a stored object that is older than a default of its kind: all reads show the default."""
    resets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By subresource (empty: none), where it is not the usual: dotted paths that writers cannot set or own there."""
    stored_under: str = ""
    """The key prefix after the server's prefix, where it is not the plural."""
    stored_version: str = ""
    """The version in which kube-apiserver stores it, where it is not the first one. It has the hub's shape."""
    stored_conversions: Mapping[str, Callable[[Object], Object]] = field(default_factory=dict)
    """By another version in which kube-apiserver may have stored it: makes the hub object of such a value."""
    is_stored_as_json: bool = False
    """Whether kube-apiserver stores it as JSON though it has a protobuf message."""
    is_cached: bool = True
    """Whether the server keeps its objects in memory for reads and watches."""
    expires: bool = False
    """Whether its objects expire, after --event-ttl."""
    conversions: Mapping[str, Conversion] = field(default_factory=dict)
    """By version; a version without one has the hub's shape."""
    custom_type: CustomType | None = None
    """The type of a custom resource; None for a built-in kind."""
    custom_types: Mapping[str, CustomType] = field(default_factory=dict)
    """The types of a custom resource in all of its versions, by version."""
    is_ending: bool = False
    """Whether its definition is being deleted: discovery then lists no verbs that create or change objects."""
    singular_name: str = ""
    """The singular; empty when it is the kind in lower case."""
    list_kind_name: str = ""
    """The kind of its lists; empty when it is the kind with `List` behind it."""
    stored_as: "Kind | None" = None
    """The kind of another group with the same stored objects: that kind's form is the hub."""
    history: Sequence[Before] = ()
    """What was different before some minors. Strategies are given as the fields of theirs that differ."""
    errors: Sequence[ErrorRow] = ()
    """Its field errors that are different in some minors; in a kind of one minor, those in effect."""
    warnings: Sequence[WarningRow] = ()
    """Its warnings that are different in some minors; in a kind of one minor, those in effect."""
    repeats_errors: bool = True
    """Whether an error that two rules find stands twice among the causes."""
    closed: Sequence[str] = ()
    """Dotted paths of fields whose feature gates are closed: new values are dropped, stored ones stay."""
    gated: Mapping[str, str] = field(default_factory=dict)
    """The feature gates of such paths, from which `closed` is chosen. `Gate@1.35` is for a field of one minor alone."""

    def at(self, minor: Minor) -> "Kind":
        """The kind as a minor has it. A kind without versions does not exist there."""
        version = minor.version
        different = dict(timeline.differences(self.history, version, minor.is_closed))
        for name in _STRATEGIES:
            given, changed = getattr(self, name), different.get(name, {})
            if given is not None and changed is not None:
                different[name] = replace(given, version=version, **changed)
        errors = errors_at((*self.errors, *common_history.ERRORS), version)
        warnings = warnings_at((*self.warnings, *common_history.WARNINGS), version)
        closed = tuple(path for path, gate in self.gated.items() if minor.is_closed(gate))
        different |= {"errors": errors, "warnings": warnings, "closed": closed, "history": ()}
        different |= self._lives_at(version, different.get("beta_versions", self.beta_versions))
        return replace(self, **different, repeats_errors=self.is_custom or version < common_history.ERRORS_ONCE)

    def _lives_at(self, version: Version, beta_versions: Sequence[str]) -> Mapping[str, Any]:
        """The versions that are not removed in a minor, and those that are deprecated."""
        lives = self.deprecations.items()
        removed = {name for name, life in lives if life.removed <= version}
        return {
            "beta_versions": tuple(one for one in beta_versions if one not in removed),
            "deprecations": {name: life for name, life in lives if life.since <= version},
        }

    @cached_property
    def is_custom(self) -> bool:
        """Whether it is a custom resource: it has no strategic merge patch then."""
        return self.custom_type is not None

    @property
    def singular(self) -> str:
        return self.singular_name or self.kind.lower()

    @property
    def list_kind(self) -> str:
        return self.list_kind_name or f"{self.kind}List"

    @cached_property
    def resource(self) -> GroupResource:
        return GroupResource(self.group, self.plural)

    @property
    def group_kind(self) -> GroupKind:
        """The group and kind in error messages: those of the stored kind."""
        stored = self.stored_as or self
        return GroupKind(stored.group, stored.kind)

    @cached_property
    def place(self) -> str:
        """The key prefix after the server's prefix, without slashes around it."""
        stored = self.stored_as or self
        return stored.stored_under or (f"{self.group}/{self.plural}" if self.is_custom else stored.plural)

    @property
    def hub_version(self) -> str:
        return self.versions[0]

    def field_name(self, label: str) -> str | None:
        """The field for a name in a field selector; None when the kind does not support it."""
        if label == "metadata.name" or label in self.fields:
            return label
        if label == "metadata.namespace" and (self.is_namespaced or not (self.has_own_fields or self.is_custom)):
            return label
        return self.field_aliases.get(label)

    @property
    def has_own_fields(self) -> bool:
        return bool(self.fields or self.field_aliases)

    def deprecation_of(self, version: str) -> str:
        """The warning for requests in one of the versions; empty when it is not deprecated."""
        life = self.deprecations.get(version)
        return self.deprecation if life is None else life.warning(self.group, version, self.kind)

    def object_kind(self, version: str) -> GroupVersionKind:
        """The group, version and kind of its objects in one of the versions."""
        return GroupVersionKind(self.group, version, self.kind)

    def api_version(self, version: str) -> str:
        """The apiVersion of objects in one of the versions."""
        return f"{self.group}/{version}" if self.group else version
