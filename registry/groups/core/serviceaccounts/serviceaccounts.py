"""ServiceAccounts: identities for pods. serviceaccounts_token.py issues their tokens."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.machinery.printing import columns
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of

_MOUNTABLE = "kubernetes.io/enforce-mountable-secrets"
_DEPRECATED = (
    f"metadata.annotations[{_MOUNTABLE}]: deprecated in v1.32+; "
    "prefer separate namespaces to isolate access to mounted secrets"
)


class ServiceAccountStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of service accounts. References to secrets keep their name alone."""

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        _clean_references(obj)

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        _clean_references(new)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return super().validate_update(context, new, old) + self.validate_again(context, new)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return [_DEPRECATED] if _is_limited(obj) else []

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return [_DEPRECATED] if _is_limited(new) and not _is_limited(old) else []


def _clean_references(obj: Object) -> None:
    if secrets := obj.get("secrets"):
        obj["secrets"] = [{name: one[name] for name in ("name",) if name in one} for one in secrets]


def _is_limited(obj: Object) -> bool:
    return _MOUNTABLE in (obj["metadata"].get("annotations") or {})


_WITH_SECRETS = table_of(NAME, (Column(name="Secrets"), columns.count("secrets")), AGE)
"""The columns in the minors that show the number of secrets."""

SERVICEACCOUNTS = Kind(
    group="",
    plural="serviceaccounts",
    kind="ServiceAccount",
    short_names=("sa",),
    strategy=ServiceAccountStrategy(),
    returns_deleted_object=True,
    history=(before((1, 35), columns=_WITH_SECRETS),),
)
