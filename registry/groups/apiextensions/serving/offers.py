"""Offers: makes the Offer of a CustomResourceDefinition: its REST storage, for each version and path.

Each version has its own Store, whose hub objects are in that version. Rules and defaults see objects in the version of
the client. All Stores share the values in the storage version.

Must hold: making an offer reads no schema. Offers for the same state of a definition share their storage.
"""

from collections.abc import Mapping
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.generic.admission.interface import Admission, Attributes, Operation
from aio_apiserver.registry.generic.field_managers import custom_field_managers, replicas_path
from aio_apiserver.registry.generic.kind import Kind, Scale
from aio_apiserver.registry.generic.rest import Environment, RESTStorage
from aio_apiserver.registry.generic.store.status import SubresourceREST
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.generic.webhook_calls import CallWebhook
from aio_apiserver.registry.groups.apiextensions.cel_rules.rule_metrics import RuleMetrics, RuleRecorder
from aio_apiserver.registry.groups.apiextensions.conversion.conversion import Types, WebhookTranslation
from aio_apiserver.registry.groups.apiextensions.definitions.definition import Definition, Version
from aio_apiserver.registry.groups.apiextensions.serving import columns, forms, selectable_fields, versioned_storage
from aio_apiserver.registry.groups.apiextensions.serving.object_validation import ObjectRules
from aio_apiserver.registry.groups.apiextensions.serving.offer import Offer
from aio_apiserver.registry.groups.apiextensions.serving.scale import CustomScaleREST
from aio_apiserver.registry.groups.apiextensions.serving.strategy import CustomStatusStrategy, CustomStrategy
from aio_apiserver.registry.groups.apiextensions.validation import error_rows
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType
from aio_apiserver.registry.machinery.patch.apply.elements import Path
from aio_apiserver.registry.machinery.patch.apply.manager import Ask
from aio_apiserver.registry.machinery.patch.apply.shapes import ShapeError
from aio_apiserver.storage.errors import Untranslatable
from aio_apiserver.storage.factory.dry_run import DryRunnableStorage
from aio_apiserver.storage.interface import Storage

_TERMINATING = "create not allowed while custom resource definition is terminating"


class _NothingNew(Struct, frozen=True):
    """Admission for a resource whose definition is being deleted: it refuses to create objects."""

    chain: Admission

    async def mutate(self, attributes: Attributes) -> None:
        _refuse_creation(attributes)
        await self.chain.mutate(attributes)

    async def validate(self, attributes: Attributes) -> None:
        _refuse_creation(attributes)
        await self.chain.validate(attributes)


def _refuse_creation(attributes: Attributes) -> None:
    if attributes.operation is Operation.CREATE:
        raise errors.Forbidden(attributes.resource, attributes.name, why=_TERMINATING)


_VALUES_SINCE = (1, 35)
"""The minor since which the errors of CEL rules show the value."""


def offer_of(
    definition: Definition,
    types: Mapping[str, CustomType],
    storages: Mapping[str, Storage],
    environment: Environment,
    call: CallWebhook,
) -> Offer:
    """The offer of a definition. `types` and `storages` are by version. `call` calls the conversion webhook."""
    admission = environment.admission
    recorder = RuleRecorder(environment.metrics.of(RuleMetrics), environment.clock.patience)
    if definition.is_terminating:
        admission = _NothingNew(admission)
    stores = {
        version.name: Store(
            kind=(kind := _kind(definition, version, types, environment.minor, recorder)),
            storage=DryRunnableStorage(storages[version.name]),
            strategy=kind.strategy,
            canonical=partial(_canonical, types[version.name]),
            settled=types[version.name].canonical,
            forms=forms.forms_of(definition, types, version.name, call),
            admission=admission,
            authorizer=environment.authorizer,
            clock=environment.clock,
            managers=custom_field_managers(
                kind,
                types,
                environment.types,
                environment.clock,
                replicas=_replicas(definition),
                ask=_asking(definition, types, version.name, call),
            ),
        )
        for version in definition.versions
        if version.name in storages
    }
    served = {version.name: _paths(stores[version.name]) for version in definition.served_versions}
    return Offer(definition, served, stores)


def _asking(definition: Definition, types: Types, version: str, call: CallWebhook) -> Ask | None:
    """The function that converts between versions by webhook; None without a conversion webhook."""
    if not versioned_storage.is_by_webhook(definition):
        return None
    translation = WebhookTranslation(definition, types, version, call)

    async def ask(value: Object, api_version: str) -> Object:
        obj = {name: part for name, part in value.items() if name not in ("apiVersion", "kind")}
        source, wanted = (one.rpartition("/")[2] for one in (value["apiVersion"], api_version))
        try:
            answer = await translation.answered(obj, source, wanted)
        except Untranslatable as exc:
            raise ShapeError(str(exc)) from exc
        return {"apiVersion": api_version, "kind": value["kind"], **answer}

    return ask


def _canonical(of_type: CustomType, obj: Object) -> Object:
    """The canonical form of a written object, where a new resourceVersion has its place in the alphabet.

    Webhooks and policies may have added fields that its schema lacks.
    """
    metadata = {"resourceVersion": "", **obj["metadata"]}
    return of_type.coerce(of_type.canonical({**obj, "metadata": metadata}))


def _paths(store: Store) -> Mapping[str, RESTStorage]:
    kind = store.kind
    paths: dict[str, RESTStorage] = {kind.plural: store}
    if kind.status_strategy is not None:
        paths[f"{kind.plural}/status"] = SubresourceREST(store, "status", kind.status_strategy)
    if kind.scale is not None:
        paths[f"{kind.plural}/scale"] = CustomScaleREST(store, f".{kind.scale.spec_replicas}")
    return paths


def _kind(definition: Definition, version: Version, types: Types, minor: Minor, recorder: RuleRecorder) -> Kind:
    accepted, of_type = definition.accepted, types[version.name]
    type_meta = {"apiVersion": f"{definition.group}/{version.name}", "kind": accepted["kind"]}
    rules = ObjectRules(
        type=of_type,
        type_meta=type_meta,
        scale=version.scale,
        shows_values=minor.version >= _VALUES_SINCE,
        recorder=recorder,
    )
    kind = Kind(
        group=definition.group,
        plural=accepted["plural"],
        kind=accepted["kind"],
        singular_name=accepted["singular"],
        list_kind_name=accepted["listKind"],
        short_names=tuple(accepted.get("shortNames") or ()),
        categories=tuple(accepted.get("categories") or ()),
        versions=(version.name,),
        is_namespaced=definition.is_namespaced,
        is_ending=definition.is_terminating,
        custom_type=of_type,
        custom_types=types,
        columns=columns.of(version, type_meta),
        fields=selectable_fields.of(version),
        unknown_field_message="field label not supported: {name}",
        strategy=CustomStrategy(rules=rules, has_status=version.has_status),
        status_strategy=CustomStatusStrategy(rules=rules) if version.has_status else None,
        scale=_scale(version),
        deprecation=_deprecation(definition, version),
        errors=error_rows.ERRORS,
    )
    return replace(kind, stored_as=replace(kind, versions=(definition.storage_version,))).at(minor)


def _scale(version: Version) -> Scale | None:
    scale = version.scale
    if scale is None:
        return None
    return Scale(
        spec_replicas=scale["specReplicasPath"].removeprefix("."),
        status_replicas=scale["statusReplicasPath"].removeprefix("."),
        selector=scale.get("labelSelectorPath", "").removeprefix("."),
    )


def _replicas(definition: Definition) -> Mapping[str, Path | None]:
    """The paths of the replicas in each version, by apiVersion."""
    scales = {version.name: _scale(version) for version in definition.versions}
    return {
        f"{definition.group}/{name}": replicas_path(scale.spec_replicas) if scale is not None else None
        for name, scale in scales.items()
    }


def _deprecation(definition: Definition, version: Version) -> str:
    """The warning for a deprecated version; empty for other versions."""
    if not version.facts.get("deprecated"):
        return ""
    warning: str | None = version.facts.get("deprecationWarning")
    if warning is not None:
        return warning
    group, kind = definition.group, definition.accepted["kind"]
    text = f"{group}/{version.name} {kind} is deprecated"
    names = [one.name for one in definition.served_versions]
    better = [
        one.name for one in definition.served_versions[: names.index(version.name)] if not one.facts.get("deprecated")
    ]
    return f"{text}; use {group}/{better[0]} {kind}" if better else text
