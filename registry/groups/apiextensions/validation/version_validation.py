"""Version validation: validates deprecation warnings, and the versions of a definition as a whole. Pure."""

from aio_apiserver.registry.base.validation import field as fields
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.apiextensions.definitions import internal_types
from aio_apiserver.registry.groups.apiextensions.definitions.spec_view import SpecView
from aio_apiserver.registry.groups.apiextensions.validation import name_validation

_IDENTICAL = "per-version {what} may not all be set to identical values (top-level {instead} should be used instead)"


def wrong_warning(warning: str | None, *, is_deprecated: bool) -> list[str]:
    """The messages for a deprecation warning."""
    if warning is None:
        return []
    if not is_deprecated:
        return ["can only be set for deprecated versions"]
    wrong = []
    if len(warning.encode()) > 256:
        wrong.append("must be <= 256 characters long")
    if not warning:
        wrong.append("must not be an empty string")
    index = 0
    for char in warning:
        if not (char.isprintable() or char == " "):
            detail = f"non-printable character found at index {index}"
            return [*wrong, f"must only contain printable UTF-8 characters; {detail}"]
        index += len(char.encode())
    return wrong


def validate_together(view: SpecView) -> list[FieldError]:
    """The errors of the versions as a whole."""
    found = []
    versions = view.versions
    alike = (
        ("schema", "schemas", "validation"),
        ("subresources", "subresources", "subresources"),
        ("additionalPrinterColumns", "additionalPrinterColumns", "additionalPrinterColumns"),
    )
    shown = internal_types.versions(view.spec.get("versions") and versions)
    for name, what, instead in alike:
        first = versions[0].get(name) if versions else None
        if first and all(one.get(name) == first for one in versions):
            found.append(fields.invalid("spec.versions", shown, _IDENTICAL.format(what=what, instead=instead)))
    given = [one.get("name") for one in versions]
    if len(set(given)) != len(given):
        found.append(fields.invalid("spec.versions", shown, "must contain unique version names"))
    if sum(bool(one.get("storage")) for one in versions) != 1:
        detail = "must have exactly one version marked as storage version"
        found.append(fields.invalid("spec.versions", shown, detail))
    if versions and versions[0].get("name"):
        found += name_validation.validate_version(versions[0]["name"], "spec.version")
    return found
