"""Scale: /scale, an autoscaling/v1 Scale as a view of the replicas of another object.

A read makes a Scale from the parent. A write changes the parent's replicas inside the parent's own update. Must hold:
admission sees Scales on this path, not the parent. Of the parent, only the replicas change.
"""

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.base.names import GroupKind, GroupResource, GroupVersionKind
from aio_apiserver.registry.base.validation import field, names, object_meta
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.generic.admission.interface import Admission, Attributes, Operation
from aio_apiserver.registry.generic.field_managers import SCALE
from aio_apiserver.registry.generic.kind import Kind, Scale
from aio_apiserver.registry.generic.options import UpdateOptions
from aio_apiserver.registry.generic.rest import Made, Request, Updated, UpdatedObject
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.machinery.patch.apply import scale as owners
from aio_apiserver.registry.machinery.patch.apply.manager import FieldManager
from aio_apiserver.registry.machinery.printing.columns import AGE, Column, table_of, value
from aio_apiserver.registry.machinery.selectors import texts
from aio_apiserver.storage.stored_object import ObjectReader, StoredObject

COLUMNS = table_of(
    (Column(name="Name", field="meta.v1.ObjectMeta.name"), value("metadata.name")),
    (Column(name="Desired", type="integer", field="autoscaling.v1.ScaleSpec.replicas"), value("spec.replicas", 0)),
    (
        Column(name="Available", type="integer", field="autoscaling.v1.ScaleStatus.replicas"),
        value("status.replicas", 0),
    ),
    AGE,
)

_SHOWN_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def _unreadable(_data: bytes) -> Object:
    raise ValueError("a Scale is never stored")


_READER = ObjectReader(_unreadable, lambda _obj: {})


class ScaleREST:
    """The scale of the objects of one Store."""

    columns = COLUMNS

    def __init__(self, store: Store) -> None:
        assert store.kind.scale is not None
        self._paths = store.kind.scale
        self._admission = store.admission
        view = _ScaleAdmission(store.admission, self._paths)
        self._parent = replace(store, subresource="scale", admission=view)

    @property
    def kind(self) -> Kind:
        return self._parent.kind

    def object_kind(self, version: str) -> GroupVersionKind:
        return SCALE

    async def get(self, request: Request, name: str, *, resource_version: int | None = None) -> StoredObject:
        return self._scale_of(await self._parent.get(request, name, resource_version=resource_version))

    async def update(
        self, request: Request, name: str, updated: UpdatedObject, options: UpdateOptions, *, force_create: bool = False
    ) -> Updated:
        async def make(current: StoredObject | None) -> Made:
            if current is None:
                raise errors.NotFound(self._resource, name)
            parent = current.decode()
            stored = self._owned_scale_of(current, parent)
            made, old = await updated.make(stored), stored.decode()
            new = made.obj
            if self._parent.managers is not None and not made.owners_known:
                manager = options.field_manager or request.manager
                self.field_manager(request.version).track(old, new, manager)
            await self._mutate(request, name, new=new, old=old, options=options)
            return Made(self._parent_with(parent, new, request.version), made.empties, owners_known=True)

        result = await self._parent.update(request, name, UpdatedObject(make, updated.preconditions), options)
        return Updated(self._scale_of(result.stored))

    def field_manager(self, version: str) -> FieldManager:
        assert self._parent.managers is not None
        return self._parent.managers.of_scale()

    @property
    def _resource(self) -> GroupResource:
        return GroupResource(self.kind.group, f"{self.kind.plural}/scale")

    def _scale_of(self, parent: StoredObject) -> StoredObject:
        return StoredObject.of(parent.key, parent.revision, scale_of(parent.decode(), self._paths), _READER)

    def _owned_scale_of(self, stored: StoredObject, parent: Object) -> StoredObject:
        """The Scale of an object, with the field managers of its replicas: only writes need them."""
        scale = scale_of(parent, self._paths)
        entries = owners.entries_of_scale(parent["metadata"].get("managedFields") or (), self._replicas)
        if entries:
            scale["metadata"]["managedFields"] = entries
        return StoredObject.of(stored.key, stored.revision, scale, _READER)

    @property
    def _replicas(self) -> owners.Paths:
        """The path of the replicas in each version."""
        managers = self._parent.managers
        return managers.replicas if managers is not None else {}

    async def _mutate(self, request: Request, name: str, *, new: Object, old: Object, options: UpdateOptions) -> None:
        attributes = self._parent.attributes(Operation.UPDATE, request, options, name=name, obj=new, old=old)
        await self._admission.mutate(replace(attributes, kind=SCALE))

    def _parent_with(self, parent: Object, scale: Object, version: str) -> Object:
        metadata = parent["metadata"]
        replicas = objects.get(scale, "spec.replicas", 0)
        self._check(replicas, scale, metadata)
        objects.put(parent, self._paths.spec_replicas, replicas)
        metadata["resourceVersion"] = self._wanted_version(scale, metadata)
        if self._parent.managers is not None:
            metadata["managedFields"] = owners.entries_of_parent(
                scale["metadata"].get("managedFields") or (),
                metadata.get("managedFields") or (),
                self._replicas,
                self.kind.api_version(version),
            )
        return parent

    def _check(self, replicas: int, scale: Object, metadata: Object) -> None:
        """Validate a Scale. Raises Invalid, Conflict."""
        given = {"namespace": metadata.get("namespace", ""), **scale["metadata"]}
        found = object_meta.validate(given, is_namespaced=self.kind.is_namespaced, check_name=names.is_dns_subdomain)
        found += object_meta.validate_builtin_finalizers(given.get("finalizers") or ())
        if replicas < 0:
            found.append(field.invalid("spec.replicas", replicas, "must be greater than or equal to 0"))
        if found:
            raise invalid_of(GroupKind("autoscaling", "Scale"), metadata["name"], found)
        uid = scale["metadata"].get("uid", "")
        if uid and uid != metadata["uid"]:
            why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {metadata['uid']}"
            raise errors.Conflict(self._resource, metadata["name"], why=why)

    def _wanted_version(self, scale: Object, metadata: Object) -> str:
        """The resourceVersion that the parent must have; empty without that precondition."""
        version: str = scale["metadata"].get("resourceVersion", "")
        return version


class _ScaleAdmission(Struct, frozen=True):
    """The parent's admission on this path: it sees Scales, and does not mutate the parent."""

    chain: Admission
    paths: Scale

    async def mutate(self, attributes: Attributes) -> None:
        """Nothing: the Scale was mutated before the parent was made from it."""

    async def validate(self, attributes: Attributes) -> None:
        assert attributes.obj is not None
        assert attributes.old is not None
        new, old = scale_of(attributes.obj, self.paths), scale_of(attributes.old, self.paths)
        await self.chain.validate(replace(attributes, kind=SCALE, obj=new, old=old))


def scale_of(parent: Object, paths: Scale) -> Object:
    """The Scale of an object."""
    metadata = parent["metadata"]
    spec_replicas = objects.get(parent, paths.spec_replicas, 0)
    status: Object = {"replicas": objects.get(parent, paths.status_replicas, 0)}
    if selector := texts.selector_text(objects.get(parent, paths.selector)):
        status["selector"] = selector
    return {
        "metadata": {name: metadata[name] for name in _SHOWN_METADATA if name in metadata},
        "spec": {"replicas": spec_replicas} if spec_replicas else {},
        "status": status,
    }
