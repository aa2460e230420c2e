"""CustomResourceDefinitions: the kind with which clients define custom resources."""

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions import stored_definitions
from aio_apiserver.registry.groups.apiextensions.definitions import crd_conditions
from aio_apiserver.registry.groups.apiextensions.validation import error_rows
from aio_apiserver.registry.machinery.printing import columns
from aio_apiserver.registry.machinery.printing.columns import BY_TIME, CREATED_AT, NAME, Column, table_of

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.apiextensions.validation import definition_validation
else:
    definition_validation = Deferred("aio_apiserver.registry.groups.apiextensions.validation.definition_validation")

GROUP = "apiextensions.k8s.io"


class DefinitionStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of definitions. The server writes the status; storedVersions can be updated by clients."""

    has_status: bool = True
    has_generation: bool = True
    takes_long: bool = True
    allows_unconditional_update: bool = False
    warns_of_sets: bool = True
    """Whether sets of objects or of lists are warned of."""

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        names = spec.setdefault("names", {})
        _default_stored_versions(obj)
        if not names.get("singular"):
            _put(names, "singular", names.get("kind", "").lower())
        if not names.get("listKind") and names.get("kind"):
            names["listKind"] = f"{names['kind']}List"
        if spec.get("conversion") is None:
            spec["conversion"] = {"strategy": "None"}

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        super().prepare_for_create(context, obj)
        obj["status"] = {}
        _note_stored_version(obj)

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        _note_stored_version(new)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + definition_validation.validate(obj, context.empties)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        found = super().validate_update(context, new, old)
        return found + definition_validation.validate_update(new, old, context.empties)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return definition_validation.format_warnings(obj, None) + self._warn_of_sets(obj)

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        known = self._warn_of_sets(old)
        added = [warning for warning in self._warn_of_sets(new) if warning not in known]
        return definition_validation.format_warnings(new, old) + added

    def _warn_of_sets(self, obj: Object) -> list[str]:
        return definition_validation.list_type_warnings(obj) if self.warns_of_sets else []


class DefinitionStatusStrategy(Strategy, frozen=True, kw_only=True):
    """The strategy of /status. An update of the status keeps the spec."""

    allows_unconditional_update: bool = False

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        new["spec"] = old["spec"]

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        found = object_meta.validate_update(new["metadata"], old["metadata"])
        return found + definition_validation.validate_status(new)


def _note_stored_version(crd: Object) -> None:
    """Add the storage version to storedVersions, since objects may now be stored in it."""
    for version in crd["spec"].get("versions") or ():
        if version.get("storage"):
            stored: list[Any] = list(crd["status"].get("storedVersions") or ())
            name = version.get("name", "")
            if name not in stored:
                crd["status"]["storedVersions"] = [*stored, name]
            return


def _default_stored_versions(crd: Object) -> None:
    """Default storedVersions to the storage version."""
    if not (crd.get("status") or {}).get("storedVersions"):
        stored = [version.get("name", "") for version in crd["spec"].get("versions") or () if version.get("storage")]
        if stored:
            crd["status"] = {**(crd.get("status") or {}), "storedVersions": stored[:1]}


def _put(obj: Object, name: str, value: str) -> None:
    if value:
        obj[name] = value


def _versions(crd: Object, _now: float) -> str:
    """The served versions, with the storage version marked."""
    shown = (
        f"{one.get('name', '')}{'(storage)' if one.get('storage') else ''}"
        for one in objects.get(crd, "spec.versions") or ()
    )
    return ",".join(shown)


def _short_names(crd: Object, _now: float) -> str:
    return ",".join(objects.get(crd, "spec.names.shortNames") or ())


def _is_established(crd: Object, _now: float) -> bool:
    return crd_conditions.is_true(crd, crd_conditions.ESTABLISHED)


_ALL_COLUMNS = table_of(
    NAME,
    (Column(name="Scope"), columns.text("spec.scope")),
    (Column(name="Versions"), _versions),
    CREATED_AT,
    (Column(name="Group", priority=1), columns.text("spec.group")),
    (Column(name="Kind", priority=1), columns.text("spec.names.kind")),
    (Column(name="ShortNames", priority=1), _short_names),
    (Column(name="Established", type="boolean", priority=1), _is_established),
)

DEFINITIONS = Kind(
    group=GROUP,
    is_stored_as_json=True,
    stored_conversions={"v1beta1": stored_definitions.from_v1beta1},
    plural="customresourcedefinitions",
    kind="CustomResourceDefinition",
    stored_under="apiextensions.k8s.io/customresourcedefinitions",
    is_namespaced=False,
    short_names=("crd", "crds"),
    categories=("api-extensions",),
    strategy=DefinitionStrategy(allows_any_finalizer=True),
    status_strategy=DefinitionStatusStrategy(),
    columns=replace(_ALL_COLUMNS, is_null_when_empty=True),
    history=(before((1, 37), columns=BY_TIME, strategy={"warns_of_sets": False}),),
    errors=error_rows.ERRORS,
    warnings=error_rows.WARNINGS,
)
