"""Rules about requests and disruptions: admission policies and webhooks, disruption budgets, flow control."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Cell, Column, Columns, count, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE, UNSET
from aio_apiserver.storage.stored_object import Object

POD_DISRUPTION_BUDGETS = table_of(
    NAME,
    (
        Column(name="Min Available", text="The minimum number of pods that must be available."),
        lambda obj, _now: str(objects.get(obj, "spec.minAvailable", "N/A")),
    ),
    (
        Column(name="Max Unavailable", text="The maximum number of pods that may be unavailable."),
        lambda obj, _now: str(objects.get(obj, "spec.maxUnavailable", "N/A")),
    ),
    (
        Column(
            name="Allowed Disruptions",
            type="integer",
            text="Calculated number of pods that may be disrupted at this time.",
        ),
        value("status.disruptionsAllowed", 0),
    ),
    AGE,
)
WEBHOOK_CONFIGURATIONS = table_of(
    NAME,
    (
        Column(
            name="Webhooks",
            type="integer",
            text="Webhooks indicates the number of webhooks registered in this configuration",
        ),
        count("webhooks"),
    ),
    AGE,
)


def _parameter_kind(policy: Object, _now: float) -> str:
    kind = objects.get(policy, "spec.paramKind")
    return UNSET if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"


def _policies(rules: tuple[Column, Cell]) -> Columns:
    text = "ParamKind specifies the kind of resources used to parameterize this policy"
    return table_of(NAME, rules, (Column(name="ParamKind", text=text), _parameter_kind), AGE)


VALIDATING_ADMISSION_POLICIES = _policies(
    (
        Column(
            name="Validations",
            type="integer",
            text="Validations indicates the number of validation rules defined in this configuration",
        ),
        count("spec.validations"),
    )
)
MUTATING_ADMISSION_POLICIES = _policies(
    (
        Column(
            name="Mutations",
            type="integer",
            text="Mutation indicates the number of mutations rules defined in this configuration",
        ),
        count("spec.mutations"),
    )
)


def _parameters(binding: Object, _now: float) -> str:
    reference = objects.get(binding, "spec.paramRef")
    if reference is None:
        return UNSET
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    selector = reference.get("selector")
    return UNSET if selector is None else _go_selector(selector)


def _go_selector(selector: Mapping[str, Any]) -> str:
    """A selector as Go prints the struct."""
    labels = "".join(f"{name}: {text}," for name, text in sorted((selector.get("matchLabels") or {}).items()))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{one['key']},Operator:{one['operator']},"
        f"Values:[{' '.join(one.get('values') or ())}],}},"
        for one in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


ADMISSION_POLICY_BINDINGS = table_of(
    NAME,
    (
        Column(
            name="PolicyName",
            text="PolicyName indicates the policy definition which the policy binding binded to",
        ),
        value("spec.policyName"),
    ),
    (
        Column(name="ParamRef", text="ParamRef indicates the param resource which sets the configuration param"),
        _parameters,
    ),
    AGE,
)


def _is_dangling(schema: Object, _now: float) -> str:
    dangling = formats.condition(schema, "Dangling")
    return "?" if dangling is None else str(dangling.get("status", ""))


FLOW_SCHEMAS = replace(
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


def _queuing(name: str, path: str) -> tuple[Column, Cell]:
    def cell(level: Object, _now: float) -> Any:
        queuing = objects.get(level, "spec.limited.limitResponse.queuing")
        return NONE if queuing is None else queuing.get(path, 0)

    return Column(name=name, field=f"flowcontrol.v1.QueuingConfiguration.{path}"), cell


def _shares(level: Object, _now: float) -> Any:
    limited = objects.get(level, "spec.limited")
    return NONE if limited is None else limited.get("nominalConcurrencyShares", 0)


PRIORITY_LEVELS = table_of(
    NAME,
    (Column(name="Type", field="flowcontrol.v1.PriorityLevelConfigurationSpec.type"), value("spec.type")),
    (
        Column(
            name="NominalConcurrencyShares",
            field="flowcontrol.v1.LimitedPriorityLevelConfiguration.nominalConcurrencyShares",
        ),
        _shares,
    ),
    _queuing("Queues", "queues"),
    _queuing("HandSize", "handSize"),
    _queuing("QueueLengthLimit", "queueLengthLimit"),
    AGE,
)
