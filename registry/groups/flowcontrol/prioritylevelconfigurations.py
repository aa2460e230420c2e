"""PriorityLevelConfigurations: how many requests of a priority level run at a time, and what happens to excess ones."""

import math
from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.validation import field, internal, values
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError
from aio_apiserver.registry.generic.error_history import instead, since, unchanged, until, worded
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.flowcontrol import mandatory
from aio_apiserver.registry.groups.flowcontrol.statuses import FlowControlStatusStrategy, validate_conditions
from aio_apiserver.registry.machinery.patch.apply.resets import WITH_METADATA
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Cell, Column, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE

Part = Mapping[str, Any]

_EXEMPT = "exempt"
_TYPES = ("Exempt", "Limited")
_RESPONSES = ("Queue", "Reject")
_SHARES = 30
_QUEUING = {"handSize": 8, "queues": 64, "queueLengthLimit": 50}
_MOST_QUEUES = 10_000_000
_HASH_BITS = 60
_ROUND_TRIP = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
"""An annotation of an older version, which v1 refuses."""


class PriorityLevelStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of priority levels. The mandatory ones are fixed, but for the shares of `exempt`."""

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        for name, shares in (("exempt", 0), ("limited", _SHARES)):
            part = spec.get(name)
            if part is not None:
                part.setdefault("nominalConcurrencyShares", shares)
                part.setdefault("lendablePercent", 0)
        queuing = ((spec.get("limited") or {}).get("limitResponse") or {}).get("queuing")
        if queuing is not None:
            queuing.update({name: queuing.get(name) or number for name, number in _QUEUING.items()})

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        name, spec = obj["metadata"].get("name", ""), obj["spec"]
        errors = super().validate(context, obj)
        if _ROUND_TRIP in (obj["metadata"].get("annotations") or {}):
            errors.append(field.forbidden("metadata.annotations", f"annotation '{_ROUND_TRIP}' is forbidden"))
        errors += _validate_spec(spec, name) + _validate_mandatory(spec, name)
        return errors + validate_conditions(obj)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return self.validate_again(context, new)


def _validate_mandatory(spec: Part, name: str) -> list[FieldError]:
    wanted = mandatory.level_spec(name)
    if wanted is None:
        return []
    is_exempt = name == _EXEMPT
    given = {**spec, _EXEMPT: wanted.get(_EXEMPT)} if is_exempt else spec
    if not mandatory.differs(given, wanted):
        return []
    what = " except the 'spec.exempt' field" if is_exempt else ""
    shown = internal.form("flowcontrol.PriorityLevelConfigurationSpec", spec)
    return [field.invalid("spec", shown, f"spec of '{name}'{what} must equal the fixed value")]


def _validate_spec(spec: Part, name: str) -> list[FieldError]:
    kind, limited, exempt = spec.get("type") or "", spec.get("limited"), spec.get("exempt")
    errors = []
    if (name == _EXEMPT) != (kind == "Exempt"):
        errors.append(field.invalid("spec.type", kind, "must be 'Exempt' if and only if `name` is 'exempt'"))
    if kind == "Exempt":
        if limited is not None:
            errors.append(field.forbidden("spec.limited", "must be nil if the type is not Limited"))
        return errors + (_validate_shares(exempt, "spec.exempt") if exempt is not None else [])
    if kind == "Limited":
        if exempt is not None:
            errors.append(field.forbidden("spec.exempt", "must be nil if the type is Limited"))
        if limited is None:
            return [*errors, field.required("spec.limited", "must not be empty when type is Limited")]
        return errors + _validate_limited(limited, "spec.limited")
    return errors + values.required_one_of(spec, "spec", "type", _TYPES)


def _validate_shares(part: Part, path: str) -> list[FieldError]:
    return _validate_number_of_shares(part, path) + _validate_lendable(part, path)


def _validate_number_of_shares(part: Part, path: str) -> list[FieldError]:
    shares = part.get("nominalConcurrencyShares") or 0
    wrong = field.invalid(f"{path}.nominalConcurrencyShares", shares, "must be a non-negative integer")
    return [wrong] if shares < 0 else []


def _validate_lendable(part: Part, path: str) -> list[FieldError]:
    percent = part.get("lendablePercent") or 0
    wrong = field.invalid(f"{path}.lendablePercent", percent, "must be between 0 and 100, inclusive")
    return [] if 0 <= percent <= 100 else [wrong]


def _validate_limited(limited: Part, path: str) -> list[FieldError]:
    errors = _validate_number_of_shares(limited, path)
    errors += _validate_response(limited.get("limitResponse") or {}, f"{path}.limitResponse")
    errors += _validate_lendable(limited, path)
    borrowing = limited.get("borrowingLimitPercent")
    if borrowing is not None and borrowing < 0:
        why = "if specified, must be a non-negative integer"
        errors.append(field.invalid(f"{path}.borrowingLimitPercent", borrowing, why))
    return errors


def _validate_response(response: Part, path: str) -> list[FieldError]:
    kind, queuing = response.get("type"), response.get("queuing")
    if kind == "Reject":
        why = "must be nil if limited.limitResponse.type is not Limited"
        return [field.forbidden(f"{path}.queuing", why)] if queuing is not None else []
    if kind == "Queue":
        if queuing is None:
            why = "must not be empty if limited.limitResponse.type is Limited"
            return [field.required(f"{path}.queuing", why)]
        return _validate_queuing(queuing, f"{path}.queuing")
    return values.required_one_of(response, path, "type", _RESPONSES)


def _validate_queuing(queuing: Part, path: str) -> list[FieldError]:
    length, queues, hand = (queuing[name] for name in ("queueLengthLimit", "queues", "handSize"))
    positive = "must be positive"
    errors = [field.invalid(f"{path}.queueLengthLimit", length, positive)] if length <= 0 else []
    if queues <= 0 or queues > _MOST_QUEUES:
        why = positive if queues <= 0 else f"must not be greater than {_MOST_QUEUES}"
        errors.append(field.invalid(f"{path}.queues", queues, why))
    why = _check_hand(hand, queues)
    return [*errors, field.invalid(f"{path}.handSize", hand, why)] if why else errors


def _check_hand(hand: int, queues: int) -> str:
    """The message for an invalid hand size. Shuffle sharding has a limited number of hash bits."""
    if hand <= 0:
        return "must be positive"
    if hand > queues:
        return f"should not be greater than queues ({queues})"
    if math.ceil(math.log2(queues) * hand) > _HASH_BITS:
        what = f"required entropy bits of deckSize {queues} and handSize {hand}"
        return f"{what} should not be greater than {_HASH_BITS}"
    return ""


def _queuing(name: str, path: str) -> tuple[Column, Cell]:
    def cell(level: Object, _now: float) -> Any:
        queuing = objects.get(level, "spec.limited.limitResponse.queuing")
        return NONE if queuing is None else queuing.get(path, 0)

    return Column(name=name, field=f"flowcontrol.v1.QueuingConfiguration.{path}"), cell


def _shares(level: Object, _now: float) -> Any:
    limited = objects.get(level, "spec.limited")
    return NONE if limited is None else limited.get("nominalConcurrencyShares", 0)


def _union_member(error: FieldError) -> list[FieldError]:
    """The error about a member of the union that `type` does not select."""
    return [field.FieldError(ErrorType.FORBIDDEN, error.path)]


_COLUMNS = table_of(
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

_TYPE = r"spec\.limited\.limitResponse\.type"
_ERRORS = (
    since((1, 37), r"spec\.limited|spec\.exempt", _union_member, type=ErrorType.FORBIDDEN, is_last=True),
    since((1, 37), r"spec\.limited", worded(""), type=ErrorType.REQUIRED, is_last=True),
    since((1, 37), _TYPE, unchanged, type=ErrorType.REQUIRED, is_last=True),
    since((1, 37), r"spec\.limited\.limitResponse\.queuing", worded(""), type=ErrorType.FORBIDDEN),
    until((1, 36), r"spec\.type", instead(field.not_supported("spec.type", "", _TYPES)), type=ErrorType.REQUIRED),
    until(
        (1, 36),
        r"spec\.limited\.limitResponse\.type",
        instead(field.not_supported("spec.limited.limitResponse.type", "", _RESPONSES)),
        type=ErrorType.REQUIRED,
    ),
)

PRIORITYLEVELCONFIGURATIONS = Kind(
    group="flowcontrol.apiserver.k8s.io",
    plural="prioritylevelconfigurations",
    kind="PriorityLevelConfiguration",
    resets={"status": WITH_METADATA},
    is_namespaced=False,
    strategy=PriorityLevelStrategy(has_status=True, has_generation=True),
    status_strategy=FlowControlStatusStrategy(),
    columns=_COLUMNS,
    errors=_ERRORS,
)
