"""FlowSchemas: assign requests to priority levels."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import empties, objects
from aio_apiserver.registry.base.validation import domains, field, internal
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1123_SUBDOMAIN
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.flowcontrol import flow_rules, mandatory
from aio_apiserver.registry.groups.flowcontrol.statuses import FlowControlStatusStrategy, validate_conditions
from aio_apiserver.registry.machinery.patch.apply.resets import WITH_METADATA
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE

_PRECEDENCE = 1000
_HIGHEST_PRECEDENCE = 10_000
_DISTINGUISHERS = ("ByNamespace", "ByUser")


class FlowSchemaStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of FlowSchemas. The mandatory ones have a fixed spec."""

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec["matchingPrecedence"] = spec.get("matchingPrecedence") or _PRECEDENCE

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        name, spec = obj["metadata"].get("name", ""), obj["spec"]
        errors = super().validate(context, obj) + _validate_spec(spec, name)
        if mandatory.differs(spec, mandatory.schema_spec(name)):
            sent = empties.within(spec, ("spec",), context.empties)
            shown = internal.form("flowcontrol.FlowSchemaSpec", sent)
            errors.append(field.invalid("spec", shown, f"spec of '{name}' must equal the fixed value"))
        return errors + validate_conditions(obj)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return self.validate_again(context, new)


def _validate_spec(spec: Mapping[str, Any], name: str) -> list[FieldError]:
    errors = _validate_precedence(spec["matchingPrecedence"], name)
    distinguisher = spec.get("distinguisherMethod")
    if distinguisher is not None and distinguisher.get("type") not in _DISTINGUISHERS:
        shown = internal.form("flowcontrol.FlowDistinguisherMethod", distinguisher)
        errors.append(field.not_supported("spec.distinguisherMethod.type", shown, _DISTINGUISHERS))
    level, path = (spec.get("priorityLevelConfiguration") or {}).get("name"), "spec.priorityLevelConfiguration.name"
    if level:
        errors += domains.validate_format(level, DNS1123_SUBDOMAIN, path)
    else:
        errors.append(field.required(path, "must reference a priority level"))
    for index, rule in enumerate(spec.get("rules") or ()):
        errors += flow_rules.validate(rule, f"spec.rules[{index}]")
    return errors


def _validate_precedence(precedence: int, name: str) -> list[FieldError]:
    checks = (
        (precedence <= 0, "must be a positive value"),
        (precedence > _HIGHEST_PRECEDENCE, f"must not be greater than {_HIGHEST_PRECEDENCE}"),
        (precedence == 1 and name != "exempt", "only the schema named 'exempt' may have matchingPrecedence 1"),
    )
    return [field.invalid("spec.matchingPrecedence", precedence, why) for is_wrong, why in checks if is_wrong]


def _is_dangling(schema: Object, _now: float) -> str:
    dangling = formats.condition(schema, "Dangling")
    return "?" if dangling is None else str(dangling.get("status", ""))


_COLUMNS = replace(
    table_of(
        NAME,
        (
            Column(name="PriorityLevel", field="flowcontrol.v1.PriorityLevelConfigurationReference.name"),
            value("spec.priorityLevelConfiguration.name"),
        ),
        (
            Column(name="MatchingPrecedence", field="flowcontrol.v1.FlowSchemaSpec.matchingPrecedence"),
            value("spec.matchingPrecedence", 0),
        ),
        (
            Column(name="DistinguisherMethod", field="flowcontrol.v1.FlowSchemaSpec.distinguisherMethod"),
            value("spec.distinguisherMethod.type", NONE),
        ),
        AGE,
        (Column(name="MissingPL", text="references a broken or non-existent PriorityLevelConfiguration"), _is_dangling),
    ),
    order=lambda schema: (objects.get(schema, "spec.matchingPrecedence", 0), schema["metadata"].get("name", "")),
)

FLOWSCHEMAS = Kind(
    group="flowcontrol.apiserver.k8s.io",
    plural="flowschemas",
    kind="FlowSchema",
    resets={"status": WITH_METADATA},
    is_namespaced=False,
    strategy=FlowSchemaStrategy(has_status=True, has_generation=True),
    status_strategy=FlowControlStatusStrategy(),
    columns=_COLUMNS,
)
