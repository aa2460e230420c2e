"""Options: CreateOptions, UpdateOptions, PatchOptions and DeleteOptions, with their validation.

The server decodes them from query parameters or a body. They are validated here, all errors at once, with
kube-apiserver's messages. Pure.
"""

from collections.abc import Sequence

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import Invalid
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.base.validation.field import FieldError, GoText
from aio_apiserver.registry.base.validation.object_meta import validate_field_manager
from aio_apiserver.storage.interface import Preconditions

META_GROUP = "meta.k8s.io"
DRY_RUN_ALL = "All"
FIELD_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
PROPAGATION_POLICIES = ("Foreground", "Background", "Orphan")


class WriteOptions(Struct, frozen=True, kw_only=True):
    """The options of all writes."""

    dry_run: Sequence[str] = ()
    field_manager: str = ""
    field_validation: str = ""

    @property
    def is_dry_run(self) -> bool:
        return bool(self.dry_run)


class CreateOptions(WriteOptions, frozen=True, kw_only=True):
    """The options of a create."""


class UpdateOptions(WriteOptions, frozen=True, kw_only=True):
    """The options of an update."""


class PatchOptions(WriteOptions, frozen=True, kw_only=True):
    """The options of a patch. `force` is None when the client did not set it."""

    force: bool | None = None


class DeleteOptions(Struct, frozen=True, kw_only=True):
    """The options of a deletion. None is a field that the client did not set."""

    dry_run: Sequence[str] = ()
    grace_period_seconds: int | None = None
    preconditions: Preconditions | None = None
    orphan_dependents: bool | None = None
    propagation_policy: str | None = None
    ignores_read_error: bool = False

    @property
    def is_dry_run(self) -> bool:
        return bool(self.dry_run)


def delete_options_of(value: Object) -> DeleteOptions:
    """The options in a decoded DeleteOptions."""
    given = value.get("preconditions")
    return DeleteOptions(
        dry_run=tuple(value.get("dryRun") or ()),
        grace_period_seconds=value.get("gracePeriodSeconds"),
        preconditions=Preconditions(given.get("uid"), given.get("resourceVersion")) if given else None,
        orphan_dependents=value.get("orphanDependents"),
        propagation_policy=value.get("propagationPolicy"),
        ignores_read_error=bool(value.get("ignoreStoreReadErrorWithClusterBreakingPotential")),
    )


def check_create(options: CreateOptions) -> None:
    """Raises Invalid."""
    if options is NO_CREATE_OPTIONS:
        return
    _check("CreateOptions", _common_errors(options))


NO_CREATE_OPTIONS, NO_UPDATE_OPTIONS = CreateOptions(), UpdateOptions()
"""Of requests without a query."""


def check_update(options: UpdateOptions) -> None:
    """Raises Invalid."""
    if options is NO_UPDATE_OPTIONS:
        return
    _check("UpdateOptions", _common_errors(options))


def check_patch(options: PatchOptions, *, is_apply: bool) -> None:
    """Raises Invalid."""
    errors = []
    if is_apply and not options.field_manager:
        errors.append(field.required("fieldManager", "is required for apply patch"))
    if not is_apply and options.force is not None:
        errors.append(field.forbidden("force", "may not be specified for non-apply patch"))
    _check("PatchOptions", errors + _common_errors(options))


def check_delete(options: DeleteOptions) -> None:
    """Raises Invalid."""
    errors = []
    policy = options.propagation_policy
    if options.orphan_dependents is not None and policy is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(field.invalid("propagationPolicy", policy, detail))
    if policy is not None and policy not in PROPAGATION_POLICIES:
        errors.append(field.not_supported("propagationPolicy", policy, (*PROPAGATION_POLICIES, "nil")))
    _check("DeleteOptions", errors + _dry_run_errors(options.dry_run))


def _common_errors(options: WriteOptions) -> list[FieldError]:
    errors = validate_field_manager(options.field_manager, "fieldManager")
    if options.dry_run:
        errors += _dry_run_errors(options.dry_run)
    if options.field_validation not in FIELD_VALIDATIONS:
        plain = GoText(quote(options.field_validation))  # it is no enum in Go
        errors.append(field.not_supported("fieldValidation", plain, FIELD_VALIDATIONS))
    return errors


def _dry_run_errors(dry_run: Sequence[str]) -> list[FieldError]:
    if all(value == DRY_RUN_ALL for value in dry_run):
        return []
    return [field.not_supported("dryRun", list(dry_run), (DRY_RUN_ALL,))]


def _check(kind: str, errors: Sequence[FieldError]) -> None:
    if errors:
        raise invalid(kind, errors)


def invalid(kind: str, errors: Sequence[FieldError]) -> Invalid:
    """The error for invalid options."""
    return invalid_of(GroupKind(META_GROUP, kind), "", errors)
