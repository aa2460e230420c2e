"""Ingresses: route HTTP requests from outside to services, by host and path."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import addresses, domains, field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1035_LABEL, DNS1123_LABEL, DNS1123_SUBDOMAIN, TextFormat
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.groups.core.services import service_validation, service_warnings
from aio_apiserver.registry.groups.networking import backends
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE

_SHOWN_HOSTS = 3


def _hosts(ingress: Object, _now: float) -> str:
    """The first three hosts. The number of further ones counts rules, as in kube-apiserver."""
    rules = objects.get(ingress, "spec.rules", ())
    named = [number for number, rule in enumerate(rules) if rule.get("host")]
    hosts = [rules[number]["host"] for number in named]
    if not hosts:
        return "*"
    is_cut = len(hosts) >= _SHOWN_HOSTS and named[_SHOWN_HOSTS - 1] < len(rules) - 1
    return formats.with_more(hosts, _SHOWN_HOSTS, len(rules) if is_cut else len(hosts))


COLUMNS = table_of(
    NAME,
    (
        Column(
            name="Class",
            text="The name of the IngressClass resource that should be used for additional configuration",
        ),
        value("spec.ingressClassName", NONE),
    ),
    (Column(name="Hosts", text="Hosts that incoming requests are matched against before the ingress rule"), _hosts),
    (
        Column(name="Address", text="Address is a list containing ingress points for the load-balancer"),
        lambda obj, _now: formats.addresses(objects.get(obj, "status.loadBalancer.ingress", ())),
    ),
    (
        Column(name="Ports", text="Ports of TLS configurations that open"),
        lambda obj, _now: "80, 443" if objects.get(obj, "spec.tls") else "80",
    ),
    AGE,
)


CLASS_ANNOTATION = "kubernetes.io/ingress.class"

_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_PARTS = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDS = ("/..", "/.")


class IngressStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of ingresses. An update may keep invalid secret names, and paths of wildcard hosts, of the old
    object.

    service_names: the format of the names of services.
    """

    service_names: TextFormat = DNS1123_LABEL

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return (
            super().validate(context, obj) + _validate_spec(_spec(obj), {}, self.service_names) + _validate_class(obj)
        )

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old) + self.validate_metadata_again(new)
        return errors + super().validate(context, new) + _validate_spec(_spec(new), _spec(old), self.service_names)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        is_set = CLASS_ANNOTATION in (obj["metadata"].get("annotations") or {})
        if not is_set or _spec(obj).get("ingressClassName") is not None:
            return []
        return [f"annotation {quote(CLASS_ANNOTATION)} is deprecated, please use 'spec.ingressClassName' instead"]


class IngressStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status, with the addresses of the load balancer."""

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        known = [entry["ip"] for entry in _entries(old) if entry.get("ip")]
        for index, entry in enumerate(_entries(new)):
            path = f"status.loadBalancer.ingress[{index}]"
            if entry.get("ip"):
                errors += addresses.validate_legacy(entry["ip"], f"{path}.ip", known)
            errors += service_validation.validate_balancer_host(entry.get("hostname") or "", f"{path}.hostname")
        return errors

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return service_warnings.of_status(new)


def _spec(obj: Object) -> Mapping[str, Any]:
    return obj.get("spec") or {}


def _entries(obj: Object) -> Sequence[Mapping[str, Any]]:
    entries: Sequence[Mapping[str, Any]] = objects.get(obj, "status.loadBalancer.ingress") or ()
    return entries


def _validate_class(obj: Object) -> list[FieldError]:
    annotation = (obj["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
    name = _spec(obj).get("ingressClassName")
    if annotation is None or name is None or annotation == name:
        return []
    why = "must match `ingressClassName` when both are specified"
    return [field.invalid(f"annotations.{CLASS_ANNOTATION}", annotation, why)]


def _validate_spec(spec: Mapping[str, Any], old: Mapping[str, Any], services: TextFormat) -> list[FieldError]:
    errors, rules, default = [], spec.get("rules") or (), spec.get("defaultBackend")
    if not rules and default is None:
        why = "either `defaultBackend` or `rules` must be specified"
        errors.append(field.invalid("spec", spec.get("rules"), why))
    if default is not None:
        errors += backends.validate(default, "spec.defaultBackend", services)
    allows_wildcards = any(
        "*" in (one.get("host") or "") and _validate_http(one, "", services) for one in old.get("rules") or ()
    )
    for index, rule in enumerate(rules):
        errors += _validate_rule(rule, f"spec.rules[{index}]", services, allows_wildcards=allows_wildcards)
    allows_names = any(_check_secret(one) for one in old.get("tls") or ())
    for index, tls in enumerate(spec.get("tls") or ()):
        errors += _validate_tls(tls, f"spec.tls[{index}]", allows_names=allows_names)
    if spec.get("ingressClassName") is not None:
        errors += domains.validate_format(spec["ingressClassName"], DNS1123_SUBDOMAIN, "spec.ingressClassName")
    return errors


def _validate_tls(tls: Mapping[str, Any], path: str, *, allows_names: bool) -> list[FieldError]:
    errors = []
    for index, host in enumerate(tls.get("hosts") or ()):
        errors += domains.validate_format(host, _host_format(host), f"{path}.hosts[{index}]")
    secret = tls.get("secretName")
    if secret and not allows_names:
        errors += domains.validate_format(secret, DNS1123_SUBDOMAIN, f"{path}.secretName")
    return errors


def _check_secret(tls: Mapping[str, Any]) -> list[str]:
    return DNS1123_SUBDOMAIN.check(tls["secretName"]) if tls.get("secretName") else []


def _host_format(host: str) -> TextFormat:
    return domains.WILDCARD if "*" in host else DNS1123_SUBDOMAIN


def _validate_rule(
    rule: Mapping[str, Any], path: str, services: TextFormat, *, allows_wildcards: bool
) -> list[FieldError]:
    errors, host = [], rule.get("host") or ""
    if host:
        if addresses.parse(host) is not None:
            errors.append(field.invalid(f"{path}.host", host, "must be a DNS name, not an IP address"))
        errors += domains.validate_format(host, _host_format(host), f"{path}.host")
    return errors if "*" in host and allows_wildcards else errors + _validate_http(rule, path, services)


def _validate_http(rule: Mapping[str, Any], path: str, services: TextFormat) -> list[FieldError]:
    http = rule.get("http")
    if http is None:
        return []
    paths = http.get("paths") or ()
    errors = [] if paths else [field.required(f"{path}.http.paths")]
    return errors + [
        error
        for index, one in enumerate(paths)
        for error in _validate_path(one, f"{path}.http.paths[{index}]", services)
    ]


def _validate_path(entry: Mapping[str, Any], path: str, services: TextFormat) -> list[FieldError]:
    kind, text = entry.get("pathType"), entry.get("path") or ""
    if kind is None:
        return [field.required(f"{path}.pathType", "pathType must be specified")]
    if kind not in _PATH_TYPES:
        errors = [field.not_supported(f"{path}.pathType", kind, _PATH_TYPES)]
    elif kind == "ImplementationSpecific":
        errors = _validate_absolute(text, f"{path}.path") if text else []
    else:
        errors = _validate_absolute(text, f"{path}.path") + _validate_plain(text, f"{path}.path")
    return errors + backends.validate(entry.get("backend") or {}, f"{path}.backend", services)


def _validate_absolute(text: str, path: str) -> list[FieldError]:
    return [] if text.startswith("/") else [field.invalid(path, text, "must be an absolute path")]


def _validate_plain(text: str, path: str) -> list[FieldError]:
    messages = [f"must not contain '{part}'" for part in _BAD_PARTS if part in text]
    messages += [f"cannot end with '{end}'" for end in _BAD_ENDS if text.endswith(end)]
    return field.invalid_each(path, text, messages)


INGRESSES = Kind(
    group="networking.k8s.io",
    plural="ingresses",
    kind="Ingress",
    stored_under="ingress",
    short_names=("ing",),
    strategy=IngressStrategy(has_status=True, has_generation=True),
    status_strategy=IngressStatusStrategy(),
    columns=COLUMNS,
    history=(before((1, 36), strategy={"service_names": DNS1035_LABEL}),),
)
