"""ServiceCIDRs: the address blocks for cluster IPs, one or one for each IP family."""

from collections.abc import Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.validation import addresses, field, internal, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.deprecations import Deprecation
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.machinery.patch.apply.resets import WITH_METADATA
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of

_PATH = "spec.cidrs"
_SAME_FAMILY = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"


class ServiceCIDRStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of service CIDRs. A second family may be added; nothing may be changed or removed."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_blocks(_blocks(obj))

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors, has, had = super().validate_update(context, new, old), _blocks(new), _blocks(old)
        if len(has) == len(had) or (len(had), len(has)) == (1, 2):
            errors += [
                field.invalid(f"{_PATH}[{index}]", block, object_meta.IMMUTABLE)
                for index, (block, before) in enumerate(zip(has, had, strict=False))
                if block != before
            ]
        else:
            errors.append(field.invalid(_PATH, objects.get(new, _PATH), object_meta.IMMUTABLE))
        return errors + (_validate_blocks(has) if (len(had), len(has)) == (1, 2) else [])


def _blocks(obj: Object) -> Sequence[str]:
    blocks: Sequence[str] = objects.get(obj, _PATH) or ()
    return blocks


def _validate_blocks(blocks: Sequence[str]) -> list[FieldError]:
    if not blocks:
        return [field.required(_PATH, "at least one CIDR required")]
    if len(blocks) > 2:
        shown = internal.form("networking.ServiceCIDRSpec", {"cidrs": blocks})
        return [field.invalid(_PATH, shown, "may only hold up to 2 values")]
    errors = [error for index, one in enumerate(blocks) for error in addresses.validate_cidr(one, f"{_PATH}[{index}]")]
    parsed = [addresses.parse_cidr(block) for block in blocks]
    versions = [addresses.version_of(network) for network in parsed if network is not None]
    if len(versions) == 2 and versions[0] == versions[1]:
        errors.append(field.invalid(_PATH, blocks, _SAME_FAMILY))
    return errors


_COLUMNS = table_of(
    NAME,
    (
        Column(name="CIDRs", field="networking.v1.ServiceCIDRSpec.cidrs"),
        lambda obj, _now: ",".join(objects.get(obj, "spec.cidrs", ())),
    ),
    AGE,
)

SERVICECIDRS = Kind(
    group="networking.k8s.io",
    plural="servicecidrs",
    kind="ServiceCIDR",
    resets={"status": WITH_METADATA},
    beta_versions=("v1beta1",),
    deprecations={"v1beta1": Deprecation((1, 34), removed=(1, 37))},
    is_namespaced=False,
    strategy=ServiceCIDRStrategy(has_status=True),
    status_strategy=StatusStrategy(keeps_metadata=True),
    columns=_COLUMNS,
)
