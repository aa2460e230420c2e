"""The Pod Security Standards."""

from typing import Any

import pytest

from aio_apiserver.registry.plugins.podsecurity import checks
from aio_apiserver.registry.plugins.podsecurity.policies import (
    BASELINE,
    PRIVILEGED,
    RESTRICTED,
    NamespacePolicy,
    Standard,
    configured,
    policy_of,
)

LABEL = "pod-security.kubernetes.io/"
SAFE = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def spec(security: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "image": "i", "securityContext": security or {}}], **more}


def told(standard: Standard, pod: dict[str, Any], annotations: dict[str, str] | None = None) -> str:
    return checks.details(checks.findings(standard, annotations or {}, pod))


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        (spec(), ""),
        (spec(hostNetwork=True, hostIPC=True), "host namespaces (hostNetwork=true, hostIPC=true)"),
        (spec({"privileged": True}), 'privileged (container "c" must not set securityContext.privileged=true)'),
        (
            spec({"capabilities": {"add": ["SYS_TIME", "CHOWN", "NET_ADMIN"]}}),
            'non-default capabilities (container "c" must not include "NET_ADMIN", "SYS_TIME" '
            "in securityContext.capabilities.add)",
        ),
        (
            spec(volumes=[{"name": "v", "hostPath": {"path": "/"}}, {"name": "w", "emptyDir": {}}]),
            'hostPath volumes (volume "v")',
        ),
        (
            spec(
                {"seccompProfile": {"type": "Unconfined"}}, securityContext={"seccompProfile": {"type": "Unconfined"}}
            ),
            'seccompProfile (pod and container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
        ),
        (
            spec(securityContext={"seLinuxOptions": {"type": "t", "user": "u"}}),
            'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "t"; user may not be set)',
        ),
        (spec(securityContext={"sysctls": [{"name": "kernel.msgmax"}]}), "forbidden sysctls (kernel.msgmax)"),
        (
            spec(securityContext={"windowsOptions": {"hostProcess": True}}),
            "hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)",
        ),
    ],
)
def test_what_the_baseline_refuses(pod: dict[str, Any], expected: str) -> None:
    assert told(Standard(BASELINE), pod) == expected


def test_the_restricted_level_wants_to_hear_that_a_pod_needs_nothing() -> None:
    assert told(Standard(RESTRICTED), spec(SAFE)) == ""
    assert told(Standard(RESTRICTED), spec()) == (
        'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), '
        'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), '
        'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), '
        'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type '
        'to "RuntimeDefault" or "Localhost")'
    )


def test_a_restricted_check_stands_for_the_baseline_one() -> None:
    pod = spec(SAFE, volumes=[{"name": "v", "hostPath": {"path": "/"}}])

    assert told(Standard(RESTRICTED), pod) == (
        'restricted volume types (volume "v" uses restricted volume type "hostPath")'
    )


@pytest.mark.parametrize(
    ("minor", "expected"), [(26, "forbidden sysctls (net.ipv4.tcp_rmem)"), (32, ""), (99, ""), (None, "")]
)
def test_versions_have_their_own_forms_of_checks(minor: int | None, expected: str) -> None:
    pod = spec(securityContext={"sysctls": [{"name": "net.ipv4.tcp_rmem"}]})

    assert told(Standard(BASELINE, minor), pod) == expected


def test_the_privileged_level_allows_everything() -> None:
    assert told(Standard(PRIVILEGED), spec({"privileged": True}, hostPID=True)) == ""


def test_labels_make_a_policy() -> None:
    labels = {f"{LABEL}enforce": "baseline", f"{LABEL}enforce-version": "v1.30", f"{LABEL}audit": "restricted"}

    policy, errors = policy_of(labels, NamespacePolicy())

    assert (str(policy.enforce), str(policy.audit), str(policy.warn)) == (
        "baseline:v1.30",
        "restricted:latest",
        "baseline:v1.30",
    )
    assert errors == []


def test_labels_that_cannot_be_read_enforce_the_strictest_level() -> None:
    policy, errors = policy_of({f"{LABEL}enforce": "loose", f"{LABEL}warn": "?"}, NamespacePolicy())

    assert policy.enforce == Standard(RESTRICTED)
    assert policy.warn == Standard(PRIVILEGED)
    assert [str(error) for error in errors] == [
        f'metadata.labels[{LABEL}enforce]: Invalid value: "loose": must be one of privileged, baseline, restricted',
        f'metadata.labels[{LABEL}warn]: Invalid value: "?": must be one of privileged, baseline, restricted',
    ]


def test_a_configuration_can_say_what_holds_without_labels() -> None:
    assert configured({"enforce": "baseline", "enforce-version": "v1.35"}).enforce == Standard(BASELINE, 35)
    with pytest.raises(ValueError, match="must be one of"):
        configured({"warn": "odd"})
