"""The options of requests."""

import pytest

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic import options
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions, PatchOptions, UpdateOptions


def test_every_mistake_is_told_at_once() -> None:
    given = CreateOptions(dry_run=("Some",), field_manager="m" * 129, field_validation="x")

    with pytest.raises(errors.Invalid) as caught:
        options.check_create(given)

    causes = caught.value.status()["details"]["causes"]
    assert [cause["field"] for cause in causes] == ["fieldManager", "dryRun", "fieldValidation"]


@pytest.mark.parametrize("validation", ["", "Ignore", "Strict", "Warn"])
def test_known_options_are_accepted(validation: str) -> None:
    options.check_update(UpdateOptions(dry_run=("All",), field_manager="m", field_validation=validation))


def test_an_apply_needs_a_field_manager() -> None:
    with pytest.raises(errors.Invalid, match="is required for apply patch"):
        options.check_patch(PatchOptions(), is_apply=True)


def test_only_an_apply_may_be_forced() -> None:
    with pytest.raises(errors.Invalid, match="may not be specified for non-apply patch"):
        options.check_patch(PatchOptions(force=True), is_apply=False)


def test_a_deletion_names_one_way_to_treat_dependents() -> None:
    with pytest.raises(errors.Invalid, match="cannot be both set"):
        options.check_delete(DeleteOptions(orphan_dependents=True, propagation_policy="Orphan"))


def test_a_deletion_names_a_known_policy() -> None:
    with pytest.raises(errors.Invalid, match='supported values: "Foreground", "Background", "Orphan", "nil"'):
        options.check_delete(DeleteOptions(propagation_policy="x"))
