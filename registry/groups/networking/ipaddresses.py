"""IPAddresses: record which object uses an address of the cluster. The name is the address, so an address has one
user.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.validation import addresses, domains, field, internal, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1123_SUBDOMAIN
from aio_apiserver.registry.generic.deprecations import Deprecation
from aio_apiserver.registry.generic.error_history import showing, since
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, Columns, table_of
from aio_apiserver.registry.machinery.printing.formats import NONE

_PARENT = "spec.parentRef"


class IPAddressStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of addresses. The parent is immutable, and a generateName is used as the name."""

    def default(self, obj: Object) -> None:
        metadata = obj["metadata"]
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = metadata["generateName"]

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_parent(_parent(obj))

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate_again(context, new) + super().validate_update(context, new, old)
        if _parent(new) != _parent(old):
            shown = internal.form("networking.ParentReference", _parent(new))
            errors.append(field.invalid(_PARENT, shown, object_meta.IMMUTABLE))
        return errors


def _parent(obj: Object) -> Mapping[str, Any] | None:
    return (obj.get("spec") or {}).get("parentRef")


def _validate_parent(parent: Mapping[str, Any] | None) -> list[FieldError]:
    if parent is None:
        return [field.required(_PARENT)]
    errors = []
    if parent.get("group"):
        errors += domains.validate_format(parent["group"], DNS1123_SUBDOMAIN, f"{_PARENT}.group")
    for name in ("resource", "name"):
        path = f"{_PARENT}.{name}"
        errors += domains.validate_segment(parent[name], path) if parent.get(name) else [field.required(path)]
    if parent.get("namespace"):
        errors += domains.validate_segment(parent["namespace"], f"{_PARENT}.namespace")
    return errors


def _is_address(name: str, _is_prefix: bool) -> list[str]:
    return [error.detail for error in addresses.validate(name, "")]


def _parent_cell(address: Object, _now: float) -> str:
    parent = objects.get(address, "spec.parentRef")
    if parent is None:
        return NONE
    resource, group = parent.get("resource", ""), parent.get("group", "")
    parts = [f"{resource}.{group}" if group else resource, parent.get("namespace", ""), parent.get("name", "")]
    parts[0] = parts[0].lower()
    return "/".join(part for part in parts if part)


_ADDRESSES = table_of(
    NAME, (Column(name="ParentRef", field="networking.v1.IPAddressSpec.parentRef"), _parent_cell), AGE
)
_COLUMNS = Columns(_ADDRESSES.columns[:2], _ADDRESSES.cells)
"""The columns of IPAddresses. As in kube-apiserver, the age has a cell but no column."""

_ERRORS = (since((1, 37), r"spec\.parentRef", showing(None), detail=object_meta.IMMUTABLE),)

IPADDRESSES = Kind(
    group="networking.k8s.io",
    plural="ipaddresses",
    kind="IPAddress",
    beta_versions=("v1beta1",),
    deprecations={"v1beta1": Deprecation((1, 34), removed=(1, 37))},
    is_namespaced=False,
    short_names=("ip",),
    strategy=IPAddressStrategy(check_name=_is_address),
    columns=_COLUMNS,
    errors=_ERRORS,
)
