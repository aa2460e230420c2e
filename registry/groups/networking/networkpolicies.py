"""NetworkPolicies: the traffic that pods may have, by peers and ports."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import addresses, field, label_selectors, ports
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.error_history import since
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of

_TYPES = ("Ingress", "Egress")
_DIRECTIONS = (("ingress", "from"), ("egress", "to"))
_PROTOCOLS = ("TCP", "UDP", "SCTP")


class NetworkPolicyStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of network policies. An update may keep CIDRs of the old object in a legacy form."""

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        if not spec.get("policyTypes"):
            spec["policyTypes"] = [*_TYPES] if spec.get("egress") else [*_TYPES[:1]]

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_spec(obj["spec"], ())

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        known = [block for _, one in _blocks(old["spec"]) for block in (one.get("cidr"), *(one.get("except") or ()))]
        return super().validate_update(context, new, old) + _validate_spec(new["spec"], known)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return [warning for path, block in _blocks(obj["spec"]) for warning in _warn(block, path)]

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, new)


def _rules(spec: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All ingress and egress rules with their paths."""
    for direction, _ in _DIRECTIONS:
        for index, rule in enumerate(spec.get(direction) or ()):
            yield f"spec.{direction}[{index}]", rule


def _peers(path: str, rule: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    name = dict(_DIRECTIONS)[path.removeprefix("spec.").partition("[")[0]]
    for index, peer in enumerate(rule.get(name) or ()):
        yield f"{path}.{name}[{index}]", peer


def _blocks(spec: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for rule_path, rule in _rules(spec):
        for path, peer in _peers(rule_path, rule):
            if peer.get("ipBlock") is not None:
                yield f"{path}.ipBlock", peer["ipBlock"]


def _validate_spec(spec: Mapping[str, Any], known: Collection[str]) -> list[FieldError]:
    errors = label_selectors.validate(spec.get("podSelector") or {}, "spec.podSelector")
    for rule_path, rule in _rules(spec):
        for index, port in enumerate(rule.get("ports") or ()):
            errors += _validate_port(port, f"{rule_path}.ports[{index}]")
        for path, peer in _peers(rule_path, rule):
            errors += _validate_peer(peer, path, known)
    types = spec.get("policyTypes") or ()
    if len(types) > len(_TYPES):
        return [*errors, field.invalid("spec.policyTypes", types, "may not specify more than two policyTypes")]
    return errors + [
        field.not_supported(f"spec.policyTypes[{index}]", one, _TYPES)
        for index, one in enumerate(types)
        if one not in _TYPES
    ]


def _validate_port(port: Mapping[str, Any], path: str) -> list[FieldError]:
    errors, protocol = [], port.get("protocol")
    if protocol is not None and protocol not in _PROTOCOLS:
        errors.append(field.not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    first, last = port.get("port"), port.get("endPort")
    if isinstance(first, int):
        return errors + ports.validate(first, f"{path}.port") + _validate_end(first, last, path)
    if last is not None:
        state = "not specified" if first is None else "non-numeric"
        errors.append(field.invalid(f"{path}.endPort", last, f"may not be specified when `port` is {state}"))
    return errors + (ports.validate(first, f"{path}.port") if first is not None else [])


def _validate_end(first: int, last: int | None, path: str) -> list[FieldError]:
    if last is None:
        return []
    errors = []
    if last < first:
        # As in kube-apiserver, the error shows the value of `port`; since 1.37 it shows the other one.
        error = field.invalid(f"{path}.endPort", first, "must be greater than or equal to `port`")
        errors.append(replace(error, position=last))
    return errors + ports.validate(last, f"{path}.endPort")


def _validate_peer(peer: Mapping[str, Any], path: str, known: Collection[str]) -> list[FieldError]:
    errors, block = [], peer.get("ipBlock")
    selectors = [name for name in ("podSelector", "namespaceSelector") if peer.get(name) is not None]
    for name in selectors:
        errors += label_selectors.validate(peer[name], f"{path}.{name}")
    if block is not None:
        errors += _validate_block(block, f"{path}.ipBlock", known)
        if selectors:
            errors.append(field.forbidden(path, "may not specify both ipBlock and another peer"))
    elif not selectors:
        errors.append(field.required(path, "must specify a peer"))
    return errors


def _validate_block(block: Mapping[str, Any], path: str, known: Collection[str]) -> list[FieldError]:
    text = block.get("cidr") or ""
    if not text:
        return [field.required(f"{path}.cidr")]
    errors, network = addresses.validate_legacy_cidr(text, f"{path}.cidr", known), addresses.parse_cidr(text)
    if network is None:
        return errors
    for index, left_out in enumerate(block.get("except") or ()):
        here = f"{path}.except[{index}]"
        errors += addresses.validate_legacy_cidr(left_out, here, known)
        part = addresses.parse_cidr(left_out)
        if part is not None and not addresses.is_strictly_within(part, network):
            errors.append(field.invalid(here, left_out, "must be a strict subset of `cidr`"))
    return errors


def _warn(block: Mapping[str, Any], path: str) -> list[str]:
    found = addresses.warn_cidr(block.get("cidr") or "", f"{path}.cidr")
    for index, left_out in enumerate(block.get("except") or ()):
        found += addresses.warn_cidr(left_out, f"{path}.except[{index}]")
    return found


_COLUMNS = table_of(
    NAME,
    (
        Column(name="Pod-Selector", field="networking.v1.NetworkPolicySpec.podSelector"),
        formats.selector("spec.podSelector"),
    ),
    AGE,
)

_ERRORS = (
    since(
        (1, 37), ".*endPort", lambda error: (replace(error, value=error.position),), detail="must be greater than or.*"
    ),
)

NETWORKPOLICIES = Kind(
    group="networking.k8s.io",
    plural="networkpolicies",
    kind="NetworkPolicy",
    short_names=("netpol",),
    strategy=NetworkPolicyStrategy(has_generation=True, counts_empties=True),
    columns=_COLUMNS,
    errors=_ERRORS,
)
