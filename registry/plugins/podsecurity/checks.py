"""Checks: the checks of the Pod Security Standards, by level and minor version.

A check gets the annotations and the spec of a pod. It returns a reason, which is the same for all pods, and a detail.
Pure. Must hold: the rows of a level are sorted by name, because messages follow that order.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.plugins.podsecurity import baseline, restricted
from aio_apiserver.registry.plugins.podsecurity.findings import Check, Finding
from aio_apiserver.registry.plugins.podsecurity.policies import BASELINE, PRIVILEGED, RESTRICTED, Standard

Spec = Mapping[str, Any]


class _Row(Struct, frozen=True):
    """One check. `forms`: its versions by first minor. `replaces`: the baseline check that it replaces from then on."""

    name: str
    forms: Mapping[int, Check]
    replaces: str = ""

    def form(self, minor: int) -> Check | None:
        since = max((one for one in self.forms if one <= minor), default=None)
        return None if since is None else self.forms[since]


_BASELINE = (
    _Row("appArmorProfile", {0: baseline.app_armor}),
    _Row("capabilities_baseline", {0: baseline.capabilities}),
    _Row("hostNamespaces", {0: baseline.host_namespaces}),
    _Row("hostPathVolumes", {0: baseline.host_paths}),
    _Row("hostPorts", {0: baseline.host_ports}),
    _Row("hostProbesAndHostLifecycle", {34: baseline.host_probes}),
    _Row("privileged", {0: baseline.privileged}),
    _Row("procMount", {0: baseline.proc_mount, 35: baseline.proc_mount_outside_user_namespaces}),
    _Row("seLinuxOptions", {0: baseline.se_linux_until_1_30, 31: baseline.se_linux}),
    _Row("seccompProfile_baseline", {0: baseline.seccomp_annotations, 19: baseline.seccomp}),
    _Row("sysctls", {since: baseline.sysctls_of(since) for since in baseline.SYSCTLS}),
    _Row("windowsHostProcess", {0: baseline.windows_host_process}),
)
_RESTRICTED = (
    _Row("allowPrivilegeEscalation", {8: restricted.escalation, 25: restricted.on_linux(restricted.escalation)}),
    _Row(
        "capabilities_restricted",
        {22: restricted.capabilities, 25: restricted.on_linux(restricted.capabilities)},
        replaces="capabilities_baseline",
    ),
    _Row("procMount_restricted", {35: baseline.proc_mount}, replaces="procMount"),
    _Row("restrictedVolumes", {0: restricted.volumes}, replaces="hostPathVolumes"),
    _Row("runAsNonRoot", {0: restricted.non_root, 35: restricted.as_host_user(restricted.non_root)}),
    _Row("runAsUser", {23: restricted.user, 35: restricted.as_host_user(restricted.user)}),
    _Row(
        "seccompProfile_restricted",
        {19: restricted.seccomp, 25: restricted.on_linux(restricted.seccomp)},
        replaces="seccompProfile_baseline",
    ),
)

_NEWEST = max(since for row in (*_BASELINE, *_RESTRICTED) for since in row.forms)
"""The last minor version that changed a check."""


def findings(standard: Standard, annotations: Mapping[str, str], spec: Spec) -> Sequence[Finding]:
    """The violations of a standard by a pod."""
    return [found for check in _checks(standard) if (found := check(annotations, spec)) is not None]


def details(found: Sequence[Finding]) -> str:
    """All reasons with their details, as one text."""
    return ", ".join(f"{one.reason} ({one.detail})" if one.detail else one.reason for one in found)


def reasons(found: Sequence[Finding]) -> str:
    return ", ".join(one.reason for one in found)


@lru_cache(maxsize=256)
def _checks(standard: Standard) -> Sequence[Check]:
    minor = _NEWEST if standard.minor is None else min(standard.minor, _NEWEST)
    if standard.level == PRIVILEGED:
        return ()
    if standard.level == BASELINE:
        return tuple(_forms(_BASELINE, minor))
    assert standard.level == RESTRICTED
    replaced = {row.replaces for row in _RESTRICTED if row.form(minor) is not None}
    kept = tuple(row for row in _BASELINE if row.name not in replaced)
    return (*_forms(kept, minor), *_forms(_RESTRICTED, minor))


def _forms(rows: Sequence[_Row], minor: int) -> Iterator[Check]:
    for row in rows:
        form = row.form(minor)
        if form is not None:
            yield form
