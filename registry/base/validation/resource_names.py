"""Resource names: validation of resource names and amounts (cpu, memory, hugepages-2Mi, example.com/gpu).

Pure. A name without a domain is native, and so is a name in kubernetes.io. All others are extended resources, which
count in whole numbers.
"""

from collections.abc import Mapping, Sequence

from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import counted_amounts, field
from aio_apiserver.registry.base.validation.field import FieldError, TypedText
from aio_apiserver.registry.base.validation.names import check_qualified_name

HUGE_PAGES = "hugepages-"
_REQUESTS = "requests."
_NATIVE_DOMAIN = "kubernetes.io/"

COUNTED = frozenset(
    {
        "pods",
        "services",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
"""Resources whose amount is always a whole number."""

_COMPUTE = frozenset({"cpu", "memory", "ephemeral-storage"})
_SCOPED = frozenset(f"{scope}.{name}" for scope in ("requests", "limits") for name in _COMPUTE)
_STANDARD = COUNTED | _COMPUTE | _SCOPED | {"storage", "requests.storage"}
_OF_PODS = ("cpu", HUGE_PAGES, "memory")


def is_huge_pages(name: str) -> bool:
    return name.startswith(HUGE_PAGES)


def is_standard(name: str) -> bool:
    """Whether Kubernetes knows this name."""
    return name in _STANDARD or name.startswith((HUGE_PAGES, _REQUESTS + HUGE_PAGES))


def is_standard_for_containers(name: str) -> bool:
    return name in _COMPUTE or is_huge_pages(name)


def is_standard_for_quotas(name: str) -> bool:
    return is_standard(name) and name != "storage"


def is_native(name: str) -> bool:
    """Whether the resource belongs to Kubernetes itself."""
    return "/" not in name or _NATIVE_DOMAIN in name


def is_extended(name: str) -> bool:
    """Whether the resource is an extended resource with a name that a quota accepts."""
    if is_native(name) or name.startswith(_REQUESTS):
        return False
    return not check_qualified_name(_REQUESTS + name)


def is_counted(name: str) -> bool:
    """Whether amounts of the resource are whole numbers."""
    return name not in _COMPUTE and (name in COUNTED or is_extended(name))


def allows_overcommit(name: str) -> bool:
    """Whether limits may exceed what a node has."""
    return is_native(name) and not is_huge_pages(name)


def validate_name(name: str, path: str) -> list[FieldError]:
    """The errors of the name of any resource."""
    errors = field.invalid_each(path, TypedText(name), check_qualified_name(name))
    if not errors and "/" not in name and not is_standard(name):
        errors.append(field.invalid_typed(path, name, "must be a standard resource type or fully qualified"))
    return errors


def validate_container_name(name: str, path: str) -> list[FieldError]:
    """The errors of a resource that a container requests."""
    if name in _COMPUTE:
        return []
    errors = validate_name(name, path)
    if "/" not in name:
        if not is_standard_for_containers(name):
            errors.append(field.invalid_typed(path, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended(name):
        errors.append(field.invalid_typed(path, name, "doesn't follow extended resource name standard"))
    return errors


def validate_pod_name(name: str, path: str) -> list[FieldError]:
    """The errors of a resource that a pod requests as a whole."""
    errors = validate_name(name, path)
    if not errors and name not in _OF_PODS and not is_huge_pages(name):
        errors.append(field.not_supported(path, name, _OF_PODS))
    return errors


def validate_quota_name(name: str, path: str) -> list[FieldError]:
    """The errors of a resource that a quota limits."""
    errors = validate_name(name, path)
    if "/" not in name and not is_standard_for_quotas(name):
        errors.append(field.invalid_typed(path, name, "must be a standard resource for quota"))
    return errors


def validate_amount(name: str, amount: str, path: str) -> list[FieldError]:
    """The errors of an amount: it must not be negative, and whole for counted resources."""
    parsed = quantity.parse_cached(amount)
    errors = []
    if parsed.digits < 0:
        errors.append(field.invalid(path, str(parsed), "must be greater than or equal to 0"))
    if name not in _COMPUTE and is_counted(name) and counted_amounts.milli_value(parsed) % 1000:
        errors.append(field.invalid(path, str(parsed), "must be an integer"))
    return errors


def warn_of_fractions(
    amounts: Mapping[str, str], path: str, *, names: Sequence[str] = ("memory", "ephemeral-storage")
) -> list[str]:
    """The warnings for amounts of bytes with a fraction."""
    return [
        f"{path}[{name}]: fractional byte value {quote(amounts[name])} is invalid, must be an integer"
        for name in names
        if name in amounts and counted_amounts.milli_value(quantity.parse_cached(amounts[name])) % 1000
    ]


def is_divisible(name: str, amount: str) -> bool:
    """Whether an amount of huge pages is a multiple of the page size in the resource's name."""
    try:
        size = quantity.parse(name.removeprefix(HUGE_PAGES))
    except DecodeError:
        return False
    if size.digits <= 0 or counted_amounts.milli_value(size) % 1000:
        return False
    return counted_amounts.value(quantity.parse_cached(amount)) % counted_amounts.value(size) == 0
