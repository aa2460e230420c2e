"""Policies: the Pod Security Standard that a namespace enforces, and those for warnings and audit annotations.

The labels of a namespace hold them (`pod-security.kubernetes.io/enforce: baseline`). Pure. Must hold: labels that
cannot be read make a policy, too: it enforces the strictest level, and warns of nothing.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from aio_apiserver.registry.base.validation import field as fields
from aio_apiserver.registry.base.validation.field import FieldError

PREFIX = "pod-security.kubernetes.io/"
PRIVILEGED, BASELINE, RESTRICTED = "privileged", "baseline", "restricted"
LEVELS = (PRIVILEGED, BASELINE, RESTRICTED)
"""The levels from the least to the most strict."""

_MODES = ("enforce", "audit", "warn")
_VERSION = re.compile("v1\\.(0|[1-9][0-9]*)")
_WRONG_LEVEL = f"must be one of {', '.join(LEVELS)}"
_WRONG_VERSION = 'must be "latest" or "v1.x"'


class Standard(NamedTuple):
    """A level with a minor version; None for the latest."""

    level: str = PRIVILEGED
    minor: int | None = None

    def __str__(self) -> str:
        return f"{self.level}:{'latest' if self.minor is None else f'v1.{self.minor}'}"

    @property
    def strictness(self) -> int:
        return LEVELS.index(self.level)

    def is_like(self, other: "Standard") -> bool:
        """Whether both allow the same pods."""
        return self == other or self.level == other.level == PRIVILEGED


class NamespacePolicy(Struct, frozen=True):
    """The standards to enforce, to record in the audit log, and to warn about."""

    enforce: Standard = field(default_factory=Standard)
    audit: Standard = field(default_factory=Standard)
    warn: Standard = field(default_factory=Standard)

    @property
    def is_privileged(self) -> bool:
        """Whether the policy allows all pods without warnings."""
        return self.enforce.level == self.audit.level == self.warn.level == PRIVILEGED

    def is_like(self, other: "NamespacePolicy") -> bool:
        return all(getattr(self, mode).is_like(getattr(other, mode)) for mode in _MODES)


def policy_of(labels: Mapping[str, str], defaults: NamespacePolicy) -> tuple[NamespacePolicy, Sequence[FieldError]]:
    """The policy in the labels of a namespace, and the errors in these labels."""
    errors: list[FieldError] = []
    enforce = _standard(labels, "enforce", defaults.enforce, errors, fallback=RESTRICTED)
    audit = _standard(labels, "audit", defaults.audit, errors, fallback=PRIVILEGED)
    warn = _standard(labels, "warn", defaults.warn, errors, fallback=PRIVILEGED)
    is_set = labels.get(f"{PREFIX}enforce") in LEVELS and f"{PREFIX}warn" not in labels
    if is_set and enforce.strictness > warn.strictness:
        minor = warn.minor if f"{PREFIX}warn-version" in labels else enforce.minor
        warn = Standard(enforce.level, minor)
    return NamespacePolicy(enforce, audit, warn), errors


def _standard(
    labels: Mapping[str, str], mode: str, default: Standard, errors: list[FieldError], *, fallback: str
) -> Standard:
    standard, label = default, f"{PREFIX}{mode}"
    level, version = labels.get(label), labels.get(f"{label}-version")
    if level is not None:
        is_known = level in LEVELS
        standard = Standard(level if is_known else fallback, standard.minor)
        if not is_known:
            errors.append(fields.invalid(f"metadata.labels[{label}]", level, _WRONG_LEVEL))
    if version is not None:
        match = _VERSION.fullmatch(version)
        standard = Standard(standard.level, int(match[1]) if match else None)
        if match is None and version != "latest":
            errors.append(fields.invalid(f"metadata.labels[{label}-version]", version, _WRONG_VERSION))
    return standard


def configured(defaults: Mapping[str, str]) -> NamespacePolicy:
    """The default policy of a configuration. Raises ValueError."""
    labels = {f"{PREFIX}{mode}": value for mode, value in defaults.items()}
    errors: list[FieldError] = []
    standards = [_standard(labels, mode, Standard(), errors, fallback=PRIVILEGED) for mode in _MODES]
    if errors:
        raise ValueError(f"defaults of PodSecurity: {errors[0].body}")
    return NamespacePolicy(*standards)
