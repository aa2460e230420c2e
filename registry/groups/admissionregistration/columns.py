"""Columns: the table columns of admission policies, policy bindings and webhook configurations."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Cell, Column, Columns, count, table_of, value
from aio_apiserver.registry.machinery.printing.formats import UNSET
from aio_apiserver.registry.machinery.selectors import texts

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


def of_policies(rules: tuple[Column, Cell]) -> Columns:
    text = "ParamKind specifies the kind of resources used to parameterize this policy"
    return table_of(NAME, rules, (Column(name="ParamKind", text=text), _parameter_kind), AGE)


def _parameters(binding: Object, _now: float) -> str:
    reference = objects.get(binding, "spec.paramRef")
    if reference is None:
        return UNSET
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    selector = reference.get("selector")
    return UNSET if selector is None else texts.go_text(selector)


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
