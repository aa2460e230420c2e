"""Kind: the facts of one resource, in one place: names, versions, verbs, selectable fields, rules, columns.

A kind's file declares one Kind; a group's provider lists them; discovery, routes, storage and tables are made from it.
Must hold: `versions` has the preferred version first, which is also the one that is stored; an object in the
registry (a hub object) is in that version and carries neither apiVersion nor kind.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from aio_apiserver.registry.base.names import GroupKind, GroupResource, GroupVersionKind
from aio_apiserver.registry.generic.strategy import Strategy
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType
from aio_apiserver.registry.machinery.printing.columns import BY_AGE, Columns
from aio_apiserver.registry.machinery.view import Conversion
from aio_apiserver.storage.stored_object import Object

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


class Scale(Struct, frozen=True):
    """Where a kind keeps what /scale shows. Paths are dotted; `selector` may hold a label selector or its text."""

    spec_replicas: str = "spec.replicas"
    status_replicas: str = "status.replicas"
    selector: str = "spec.selector"


class Kind(Struct, frozen=True, kw_only=True):
    """One resource that is kept in storage."""

    group: str
    plural: str
    kind: str
    versions: Sequence[str] = ("v1",)
    beta_versions: Sequence[str] = ()
    """Further versions in the shape of the hub, which are served when --runtime-config says so."""
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
    """Whether OpenAPI says that a DELETE answers with a Status, although it does not: so it is upstream."""

    fields: Mapping[str, Callable[[Object], str]] = field(default_factory=dict)
    """Selectable fields beyond metadata.name and metadata.namespace."""
    field_aliases: Mapping[str, str] = field(default_factory=dict)
    """Other words that a field selector may use, and the fields that they mean."""
    unknown_field_message: str = "field label not supported: {name}"
    """What a field selector hears of a field that this kind, which has fields of its own, does not offer."""
    triggers: Sequence[str] = ()
    """Selectable fields by which many watchers select one value each."""
    columns: Columns = BY_AGE
    """How tables show it."""
    deprecation: str = ""
    """The warning that every request for it gets."""
    inner_annotations: frozenset[str] = frozenset()
    """Annotations that stand for fields of kube-apiserver's own form, which metadata by itself does not show."""
    decorate: Callable[[Object], None] | None = None
    """Completes, in place, an object that was stored before a default of its kind existed: all readers see it so."""
    resets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By subresource (empty: none), where it is not the usual: dotted paths that writers there cannot set or own."""
    stored_under: str = ""
    """What its keys begin with behind the server's prefix, where that is not the plural."""
    is_cached: bool = True
    """Whether the server keeps its objects in memory for reads and watches."""
    expires: bool = False
    """Whether its objects go by themselves, as --event-ttl says."""
    conversions: Mapping[str, Conversion] = field(default_factory=dict)
    """By version; a version without one has the hub's shape."""
    custom_type: CustomType | None = None
    """The type of a kind that a client has defined; None for those that Kubernetes brings."""
    is_ending: bool = False
    """Whether its definition is being deleted: discovery does not offer to make or change its objects any more."""
    singular_name: str = ""
    """The singular; empty when it is the kind in lower case."""
    list_kind_name: str = ""
    """The kind of its lists; empty when it is the kind with `List` behind it."""
    stored_as: "Kind | None" = None
    """The kind of another group whose objects these are: they are kept once, and its form is the hub."""

    @property
    def is_custom(self) -> bool:
        """Whether a client has defined it: a kind without Go types has no strategic merge."""
        return self.custom_type is not None

    @property
    def singular(self) -> str:
        return self.singular_name or self.kind.lower()

    @property
    def list_kind(self) -> str:
        return self.list_kind_name or f"{self.kind}List"

    @property
    def resource(self) -> GroupResource:
        return GroupResource(self.group, self.plural)

    @property
    def group_kind(self) -> GroupKind:
        """What errors call its objects: by the group that keeps them."""
        stored = self.stored_as or self
        return GroupKind(stored.group, stored.kind)

    @property
    def place(self) -> str:
        """What its keys begin with behind the server's prefix, without slashes around it."""
        stored = self.stored_as or self
        return stored.stored_under or (f"{self.group}/{self.plural}" if self.is_custom else stored.plural)

    @property
    def hub_version(self) -> str:
        return self.versions[0]

    def field_name(self, label: str) -> str | None:
        """The field that a word of a field selector means; None when the kind does not offer it."""
        if label == "metadata.name" or label in self.fields:
            return label
        if label == "metadata.namespace" and (self.is_namespaced or not (self.has_own_fields or self.is_custom)):
            return label
        return self.field_aliases.get(label)

    @property
    def has_own_fields(self) -> bool:
        return bool(self.fields or self.field_aliases)

    def object_kind(self, version: str) -> GroupVersionKind:
        """What its objects are in one of the versions."""
        return GroupVersionKind(self.group, version, self.kind)

    def api_version(self, version: str) -> str:
        """The apiVersion of objects in one of the versions."""
        return f"{self.group}/{version}" if self.group else version
