"""Definition validation: validates CustomResourceDefinitions, in kube-apiserver's order.

Pure. Must hold: an update may keep violations of the old definition, so that old definitions can be changed. Patterns
and defaults of a definition are validated within a budget.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct, field

from aio_apiserver.base.budget import Budget, BudgetExceeded, BudgetLimits
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.empties import Empties, put_back
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import field as fields
from aio_apiserver.registry.base.validation import object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.apiextensions.cel_rules import rules
from aio_apiserver.registry.groups.apiextensions.definitions import approval, crd_conditions, spec_view
from aio_apiserver.registry.groups.apiextensions.definitions.spec_view import SpecView, Version
from aio_apiserver.registry.groups.apiextensions.validation import (
    column_validation,
    conversion_validation,
    name_validation,
    schema_validation,
    structural_validation,
    subresource_validation,
    version_validation,
    webhook_clients,
)
from aio_apiserver.registry.groups.apiextensions.validation.default_validation import DefaultRules
from aio_apiserver.registry.groups.apiextensions.validation.schema_validation import Demands
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural import defaulting
from aio_apiserver.registry.machinery.schema.structural.metadata import MetadataType
from aio_apiserver.registry.machinery.schema.structural.plain import is_plain
from aio_apiserver.registry.machinery.schema.validation import formats

_UNSUPPORTED_SET = (
    "x-kubernetes-list-type: set for items of type {} is not supported by server-side apply or CEL validation rules"
)
_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


LIMITS = BudgetLimits(steps=5_000_000, bytes_made=0)
"""What the patterns and defaults of one definition may cost: some 10 s in the worker thread."""
_TAKES_LONG = f"its patterns and defaults need more than {LIMITS.steps} steps to validate"


class _Demands(Struct, frozen=True, kw_only=True):
    """The rules that apply to one request, and its budget. `before` is the spec that an update replaces."""

    schemas: Demands = field(default_factory=Demands)
    known_review: bool = True
    pruned_defaults: bool = True
    good_authorities: bool = False
    before: SpecView | None = None
    budget: Budget = field(default_factory=lambda: Budget(LIMITS))


def validate(crd: Object, empties: Empties = ()) -> list[FieldError]:
    """The errors of a new definition. `empties` are the empty lists and maps of the request."""
    spec = crd.get("spec") or {}
    names = spec.get("names") or {}
    found = []
    name, wanted = crd["metadata"].get("name", ""), f"{names.get('plural', '')}.{spec.get('group', '')}"
    if name and name != wanted:
        found.append(fields.invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group'))
    found += _validate_spec(_view(crd, empties), _Demands())
    found += _validate_rest(crd)
    found += _validate_approval(crd, None)
    return found + _validate_preserving(spec)


def validate_update(new: Object, old: Object, empties: Empties = ()) -> list[FieldError]:
    """The errors of a changed definition."""
    spec, before = new.get("spec") or {}, old["spec"]
    found = _validate_spec(_view(new, empties), _demands_of_update(old))
    if crd_conditions.is_true(old, crd_conditions.ESTABLISHED):
        found += _unchanged(spec, before, "scope") + _unchanged(spec, before, "names.kind")
    found += _unchanged(spec, before, "group") + _unchanged(spec, before, "names.plural")
    found += _validate_rest(new)
    found += _validate_approval(new, old)
    return found + ([] if before.get("preserveUnknownFields") else _validate_preserving(spec))


def validate_status(crd: Object) -> list[FieldError]:
    """The errors of a changed status."""
    return name_validation.validate((crd.get("status") or {}).get("acceptedNames") or {}, "status.acceptedNames")


def format_warnings(new: Object, old: Object | None) -> list[str]:
    """The warnings for unknown formats that the old definition does not have."""
    known = set(_unknown_formats(old)) if old is not None else set()
    return [f"unrecognized format {quote(name)}" for name in _unknown_formats(new) if name not in known]


def list_type_warnings(new: Object) -> list[str]:
    """The warnings for sets whose elements are objects or lists, each type once."""
    found: set[str] = {
        items.get("type") or ""
        for schema in spec_view.view_of(new.get("spec") or {}).schemas()
        for one in parts(schema)
        if one.get("x-kubernetes-list-type") == "set" and (items := one.get("items") or {})
    }
    return [_UNSUPPORTED_SET.format(quote(kind)) for kind in sorted(found & {"array", "object"})]


def _demands_of_update(old: Object) -> _Demands:
    before = spec_view.view_of(old["spec"])
    everything = [one for schema in before.schemas() for one in parts(schema)]
    conversion = old["spec"].get("conversion") or {}
    reviews = (conversion.get("webhook") or {}).get("conversionReviewVersions") or ()
    return _Demands(
        schemas=Demands(
            valid_types=all((one.get("type") or "object") in schema_validation.TYPES for one in everything),
            atomic_sets=not any(_has_unsound_set(one) for one in everything),
            sound_keys=not any(schema_validation.validate_keys(one, "") for one in everything),
        ),
        known_review=not reviews or conversion_validation.is_spoken(reviews),
        pruned_defaults=not any(_has_unpruned_defaults(schema) for schema in before.schemas()),
        good_authorities=crd_conditions.is_true(old, crd_conditions.ESTABLISHED)
        and webhook_clients.has_sound_authorities(old),
        before=before,
    )


def _has_unsound_set(schema: Schema) -> bool:
    items = schema.get("items")
    if schema.get("x-kubernetes-list-type") != "set" or not isinstance(items, dict):
        return False
    return bool(schema_validation.validate_set(items, ""))


def _has_unpruned_defaults(schema: Schema) -> bool:
    budget = Budget(LIMITS)
    try:
        if not defaulting.has_defaults(schema) or structural_validation.validate(schema, "", budget):
            return False
        strict = DefaultRules(_metadata(), budget).validate(schema, "")
    except BudgetExceeded:
        return False
    return any(error.detail == "must not have unknown fields" for error in strict)


def _view(crd: Object, empties: Empties) -> SpecView:
    """The spec with the empty values of the request, which schemas forbid in some places."""
    spec = crd.get("spec") or {}
    if not empties:
        return spec_view.view_of(spec)
    sent = objects.clone(crd)
    put_back(sent, empties)
    return spec_view.view_of(sent.get("spec") or {}, spec)


def _validate_spec(view: SpecView, demands: _Demands) -> list[FieldError]:
    spec = view.spec
    found = name_validation.validate_group(spec.get("group") or "", "spec.group")
    found += _validate_scope(spec.get("scope") or "")
    if view.common_schema is None:
        for index, version in enumerate(view.versions):
            if spec_view.schema_of(version) is None:
                found.append(fields.required(f"spec.versions[{index}].schema.openAPIV3Schema"))
    found += _validate_defaults_are_pruned(view)
    for index, version in enumerate(view.versions):
        found += _validate_version(view, version, f"spec.versions[{index}]", demands)
    found += version_validation.validate_together(view)
    names = spec.get("names") or {}
    found += name_validation.validate_required(names, "spec.names")
    found += name_validation.validate(names, "spec.names")
    found += _validate_shared(view, demands)
    return found + conversion_validation.validate(
        spec.get("conversion"),
        "spec.conversion",
        is_preserving=bool(spec.get("preserveUnknownFields")),
        demands_known_review=demands.known_review,
        allows_bad_authorities=not demands.good_authorities,
    )


def _validate_defaults_are_pruned(view: SpecView) -> list[FieldError]:
    if not view.spec.get("preserveUnknownFields"):
        return []
    if not any(one.get("default") is not None for schema in view.schemas() for one in parts(schema)):
        return []
    return [fields.invalid("spec.preserveUnknownFields", True, "must be false in order to use defaults in the schema")]


def _validate_scope(scope: str) -> list[FieldError]:
    if not scope:
        return [fields.required("spec.scope")]
    supported = ("Cluster", "Namespaced")
    return [] if scope in supported else [fields.not_supported("spec.scope", scope, supported)]


def _validate_version(view: SpecView, version: Version, path: str, demands: _Demands) -> list[FieldError]:
    found = name_validation.validate_version(version.get("name") or "", f"{path}.name")
    warning = version.get("deprecationWarning")
    wrong = version_validation.wrong_warning(warning, is_deprecated=bool(version.get("deprecated")))
    found += fields.invalid_each(f"{path}.deprecationWarning", warning, wrong)
    has_status = spec_view.has_status(view.subresources_of(version))
    schema = spec_view.schema_of(version)
    if schema is not None:
        before = demands.before.schema_of_version(version.get("name", "")) if demands.before else None
        found += _validate_schema(schema, f"{path}.schema.openAPIV3Schema", demands, has_status=has_status, old=before)
    found += subresource_validation.validate(version.get("subresources"), f"{path}.subresources")
    found += column_validation.validate_columns(
        version.get("additionalPrinterColumns"), f"{path}.additionalPrinterColumns"
    )
    selected = version.get("selectableFields")
    if selected:
        where = f"{path}.selectableFields"
        if schema is None:
            detail = "may only be set when `version.schema.openAPIV3Schema` is not included"
            return [*found, fields.invalid(where, "", detail)]
        allowed = _selected_before(demands, version.get("name", ""))
        found += column_validation.validate_selectable(selected, schema, where, before=allowed)
    return found


def _selected_before(demands: _Demands, name: str) -> Sequence[Mapping[str, Any]]:
    if demands.before is None:
        return ()
    return next((one.get("selectableFields") or () for one in demands.before.versions if one.get("name") == name), ())


def _validate_shared(view: SpecView, demands: _Demands) -> list[FieldError]:
    """The errors of the parts that all versions share."""
    found = []
    schema, subresources = view.common_schema, view.shared.get("subresources")
    if schema is not None:
        has_status = spec_view.has_status(subresources) or any(
            spec_view.has_status(one.get("subresources")) for one in view.versions
        )
        before = demands.before.common_schema if demands.before else None
        found += _validate_schema(schema, "spec.validation.openAPIV3Schema", demands, has_status=has_status, old=before)
    found += subresource_validation.validate(subresources, "spec.subresources")
    found += column_validation.validate_columns(
        view.shared.get("additionalPrinterColumns"), "spec.additionalPrinterColumns"
    )
    selected = view.shared.get("selectableFields")
    if selected:
        where = "spec.selectableFields"
        if schema is None:
            return [*found, fields.invalid(where, "", "may only be set when validations.schema is included")]
        before_fields = demands.before.shared.get("selectableFields") or () if demands.before else ()
        found += column_validation.validate_selectable(selected, schema, where, before=before_fields)
    return found


def _validate_schema(
    schema: Schema, path: str, demands: _Demands, *, has_status: bool, old: Schema | None
) -> list[FieldError]:
    found = schema_validation.validate_root(schema, path, has_status=has_status)
    unsupported = structural_validation.unsupported(schema)
    wrong: list[FieldError] = []
    if not unsupported:
        try:
            wrong = structural_validation.validate(schema, path, demands.budget)
            wrong = wrong or _default_rules(demands).validate(schema, path)
        except BudgetExceeded:
            wrong = [fields.forbidden(path, _TAKES_LONG)]
    is_structural = not unsupported and not wrong
    unsound = schema_validation.validate(schema, path, demands.schemas)
    found += wrong + unsound
    if not found and unsupported:
        return [fields.invalid(path, "", unsupported)]
    return found + rules.check(schema, path, before=old, unsound=unsound) if is_structural else found


def _default_rules(demands: _Demands) -> DefaultRules:
    return DefaultRules(_metadata(), demands.budget, demands_pruned=demands.pruned_defaults)


def _validate_rest(crd: Object) -> list[FieldError]:
    """The errors of the status: accepted names and stored versions."""
    status = crd.get("status") or {}
    found = validate_status(crd)
    stored: Sequence[str] = status.get("storedVersions") or ()
    path = "status.storedVersions"
    if not stored:
        return [*found, fields.invalid(path, None, "must have at least one stored version")]
    # Each entry of storedVersions matches one version. A second entry of the same name counts as missing from the spec.
    places = {name: index for index, name in enumerate(stored)}
    for version in (crd.get("spec") or {}).get("versions") or ():
        name = version.get("name") or ""
        if places.pop(name, None) is None and version.get("storage"):
            found.append(fields.invalid(path, list(stored), f"must have the storage version {name}"))
    for name, index in places.items():
        detail = (
            f"missing from spec.versions; {name} was previously a storage version, and must remain in "
            f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
            f"{name} from status.storedVersions"
        )
        found.append(fields.invalid(f"{path}[{index}]", name, detail))
    return found


def _validate_approval(new: Object, old: Object | None) -> list[FieldError]:
    if not approval.is_protected((new.get("spec") or {}).get("group") or ""):
        return []
    given = _annotation(new)
    reason, message = approval.state(given)
    if old is not None and approval.state(_annotation(old))[0] == reason:
        return []
    path = f"metadata.annotations[{approval.ANNOTATION}]"
    match reason:
        case "MissingAnnotation":
            return [fields.required(path, message)]
        case "InvalidAnnotation":
            return [fields.invalid(path, given, message)]
        case _:
            return []


def _annotation(crd: Object) -> str:
    annotation: str = (crd["metadata"].get("annotations") or {}).get(approval.ANNOTATION, "")
    return annotation


def _validate_preserving(spec: Object) -> list[FieldError]:
    if not spec.get("preserveUnknownFields"):
        return []
    detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
    return [fields.invalid("spec.preserveUnknownFields", True, detail)]


def _unchanged(new: Object, old: Object, path: str) -> list[FieldError]:
    group, _, name = path.rpartition(".")
    one, other = (part.get(group) or {} if group else part for part in (new, old))
    if one.get(name) == other.get(name):
        return []
    return [fields.invalid(f"spec.{path}", one.get(name), object_meta.IMMUTABLE)]


def _unknown_formats(crd: Object) -> list[str]:
    view = spec_view.view_of(crd.get("spec") or {})
    everything = [one for schema in view.schemas() for one in parts(schema)]
    return [
        one["format"]
        for one in everything
        if one.get("format") and not formats.effective(one["format"], one.get("type") or "")
    ]


def parts(schema: Schema) -> Iterator[Schema]:
    """A schema and all schemas in it, without the plain ones."""
    yield schema
    combined = [one for name in ("allOf", "anyOf", "oneOf") for one in schema.get(name) or ()]
    items = schema.get("items")
    listed = items if isinstance(items, list) else [items]
    named = [
        one
        for name in ("properties", "patternProperties", "definitions", "dependencies")
        for one in (schema.get(name) or {}).values()
        if not is_plain(one)
    ]
    others = [schema.get("not"), schema.get("additionalProperties"), schema.get("additionalItems")]
    for below in (*listed, *combined, *named, *others):
        if isinstance(below, dict):
            yield from parts(below)


@cache
def _metadata() -> MetadataType:
    return MetadataType(builtin().type_of(_METADATA))
