"""Restricted: the checks of the level restricted, under which a pod has to drop its privileges itself. Pure."""

from collections.abc import Iterable, Mapping

from aio_apiserver.registry.plugins.podsecurity import baseline
from aio_apiserver.registry.plugins.podsecurity.findings import (
    Check,
    Finding,
    Spec,
    containers,
    counted,
    named,
    names_of,
    quoted,
    security,
    setters,
)

_NON_ROOT = "runAsNonRoot != true"
_VOLUMES = frozenset(
    {
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    }
)


def on_linux(check: Check) -> Check:
    """The check for pods that do not specify the operating system Windows."""

    def checked(annotations: Mapping[str, str], spec: Spec) -> Finding | None:
        return None if (spec.get("os") or {}).get("name") == "windows" else check(annotations, spec)

    return checked


def as_host_user(check: Check) -> Check:
    """The check for pods without a user namespace. In a user namespace, root has no rights on the host."""

    def checked(annotations: Mapping[str, str], spec: Spec) -> Finding | None:
        return None if spec.get("hostUsers") is False else check(annotations, spec)

    return checked


def escalation(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    bad = names_of(one for one in containers(spec) if security(one).get("allowPrivilegeEscalation") is not False)
    detail = f"{named('container', bad)} must set securityContext.allowPrivilegeEscalation=false"
    return Finding("allowPrivilegeEscalation != false", detail) if bad else None


def capabilities(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    missing, adding = [], []
    added: set[str] = set()
    for container in containers(spec):
        given = security(container).get("capabilities") or {}
        if "ALL" not in (given.get("drop") or ()):
            missing.append(container.get("name", ""))
        if more := set(given.get("add") or ()) - {"NET_BIND_SERVICE"}:
            adding.append(container.get("name", ""))
            added |= more
    details = []
    if missing:
        details.append(f'{named("container", missing)} must set securityContext.capabilities.drop=["ALL"]')
    if adding:
        what = quoted(sorted(added))
        details.append(f"{named('container', adding)} must not include {what} in securityContext.capabilities.add")
    return Finding("unrestricted capabilities", "; ".join(details)) if details else None


def volumes(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    bad = [volume for volume in spec.get("volumes") or () if not _VOLUMES & volume.keys()]
    if not bad:
        return None
    types = sorted({next((name for name in volume if name != "name"), "unknown") for volume in bad})
    use = "uses" if len(bad) == 1 else "use"
    detail = f"{named('volume', names_of(bad))} {use} {counted('restricted volume type', types)} {quoted(types)}"
    return Finding("restricted volume types", detail)


def non_root(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    of_pod = security(spec).get("runAsNonRoot")
    values = {one.get("name", ""): security(one).get("runAsNonRoot") for one in containers(spec)}
    subject = setters([name for name, value in values.items() if value is False], is_pod=of_pod is False)
    if subject:
        return Finding(_NON_ROOT, f"{subject} must not set securityContext.runAsNonRoot=false")
    silent = [] if of_pod else [name for name, value in values.items() if value is None]
    detail = f"pod or {named('container', silent)} must set securityContext.runAsNonRoot=true"
    return Finding(_NON_ROOT, detail) if silent else None


def user(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    subject = setters(names_of(filter(_is_root, containers(spec))), is_pod=_is_root(spec))
    return Finding("runAsUser=0", f"{subject} must not set runAsUser=0") if subject else None


def _is_root(owner: Spec) -> bool:
    return security(owner).get("runAsUser") == 0


def seccomp(annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    found = baseline.seccomp(annotations, spec)
    if found is not None or _has_profile(spec):
        return found
    silent = names_of(_without_profile(containers(spec)))
    detail = (
        f"pod or {named('container', silent)} must set securityContext.seccompProfile.type "
        'to "RuntimeDefault" or "Localhost"'
    )
    return Finding("seccompProfile", detail) if silent else None


def _has_profile(owner: Spec) -> bool:
    return security(owner).get("seccompProfile") is not None


def _without_profile(these: Iterable[Spec]) -> Iterable[Spec]:
    return (one for one in these if not _has_profile(one))
