"""ServiceAccount: gives a pod its service account, and mounts a token of the account into its containers.

Must hold: a pod whose service account does not exist is refused. Mirror pods, which kubelets create, are not changed,
and may refer to no service accounts and no secrets.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.jitter import chance
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic import preparation
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.groups.core.serviceaccounts.serviceaccounts import SERVICEACCOUNTS
from aio_apiserver.registry.plugins.admission.pod_writes import PODS
from aio_apiserver.registry.plugins.admission.secret_references import secret_names
from aio_apiserver.storage.interface import Reader

_ACCOUNTS = SERVICEACCOUNTS.resource
_DEFAULT = "default"
_MIRROR = "kubernetes.io/config.mirror"
_ENFORCES = "kubernetes.io/enforce-mountable-secrets"
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - where the token is, not what it is
_TOKEN_VOLUME = "kube-api-access-"  # noqa: S105 - a name
_TRIES_FOR_DEFAULT = 10
"""The tries to find the account `default`. A controller creates it shortly after its namespace."""
_PAUSE = (0.1, 0.2)
_TOKEN_SOURCES = [
    {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
    {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    {
        "downwardAPI": {
            "items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]
        }
    },
]


class _Account(NamedTuple):
    """The facts of a service account that the plugin uses."""

    name: str
    mounts_token: bool | None
    pull_secrets: tuple[str, ...]
    secrets: frozenset[str]
    is_enforcing: bool


class ServiceAccount(Plugin):
    """Reads service accounts through a cached lookup."""

    name = "ServiceAccount"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})
    resources = frozenset({PODS})

    def __init__(self, accounts: Reader, clock: Clock) -> None:
        self._accounts = Lookup(accounts, _ACCOUNTS, _account)
        self._patience = clock.patience

    async def mutate(self, attributes: Attributes) -> None:
        if not _is_creation(attributes):
            return
        assert attributes.obj is not None
        if not _is_mirror(attributes.obj):
            spec = attributes.obj["spec"]
            name = spec.get("serviceAccountName") or _DEFAULT
            spec["serviceAccountName"] = spec["serviceAccount"] = name
            account = await self._account_of(attributes, name)
            if _wants_token(account, spec):
                _mount_token(spec)
            if not spec.get("imagePullSecrets") and account.pull_secrets:
                spec["imagePullSecrets"] = [{"name": secret} for secret in account.pull_secrets]
        await self.validate(attributes)

    async def validate(self, attributes: Attributes) -> None:
        if attributes.obj is None or attributes.resource != PODS:
            return
        if attributes.operation is Operation.UPDATE and attributes.subresource == "ephemeralcontainers":
            await self._validate_references(attributes, of_new_containers=True)
        elif _is_creation(attributes) and _is_mirror(attributes.obj):
            _validate_mirror(attributes)
        elif _is_creation(attributes):
            await self._validate_references(attributes, of_new_containers=False)

    async def _validate_references(self, attributes: Attributes, *, of_new_containers: bool) -> None:
        """Check that the account exists, and that an enforcing account lists all secrets of the pod."""
        assert attributes.obj is not None
        spec, metadata = attributes.obj["spec"], attributes.obj["metadata"]
        name = spec.get("serviceAccountName", "")
        if not name:
            pod = f"{attributes.namespace}/{metadata.get('name', '')}"
            raise refusals.forbidden(attributes, f"no service account specified for pod {pod}")
        account = await self._account_of(attributes, name)
        if account.is_enforcing:
            unlisted = _unlisted_of_ephemeral if of_new_containers else _unlisted
            for why in unlisted(spec, account):
                raise refusals.forbidden(attributes, why)

    async def _account_of(self, attributes: Attributes, name: str) -> _Account:
        key = f"{attributes.namespace}/{name}"
        account = await self._accounts.get(key)
        for _ in range(_TRIES_FOR_DEFAULT - 1 if name == _DEFAULT else 0):
            if account is not None:
                break
            await self._patience.sleep(chance.uniform(*_PAUSE))
            account = await self._accounts.get(key)
        if account is None:
            missing = f"serviceaccount {quote(name)} not found"
            raise refusals.forbidden(attributes, f"error looking up service account {key}: {missing}")
        return account


def _account(obj: Object) -> _Account:
    metadata = obj["metadata"]
    return _Account(
        metadata["name"],
        obj.get("automountServiceAccountToken"),
        tuple(one.get("name", "") for one in obj.get("imagePullSecrets") or ()),
        frozenset(one.get("name", "") for one in obj.get("secrets") or ()),
        (metadata.get("annotations") or {}).get(_ENFORCES) in _TRUE,
    )


def _is_creation(attributes: Attributes) -> bool:
    is_pod = attributes.resource == PODS and not attributes.subresource
    return is_pod and attributes.operation is Operation.CREATE


def _is_mirror(pod: Object) -> bool:
    return _MIRROR in (pod["metadata"].get("annotations") or {})


def _validate_mirror(attributes: Attributes) -> None:
    assert attributes.obj is not None
    spec = attributes.obj["spec"]
    if spec.get("serviceAccountName"):
        raise refusals.forbidden(attributes, "a mirror pod may not reference service accounts")
    if any(True for _ in secret_names(spec)):
        raise refusals.forbidden(attributes, "a mirror pod may not reference secrets")
    sources = (
        source
        for volume in spec.get("volumes") or ()
        for source in (volume.get("projected") or {}).get("sources") or ()
    )
    if any(source.get("serviceAccountToken") is not None for source in sources):
        raise refusals.forbidden(attributes, "a mirror pod may not use ServiceAccountToken volume projections")


def _wants_token(account: _Account, spec: Object) -> bool:
    """Whether to mount a token: the pod decides, then the account. The default is yes."""
    for wish in (spec.get("automountServiceAccountToken"), account.mounts_token):
        if wish is not None:
            return bool(wish)
    return True


def _mount_token(spec: Object) -> None:
    """Mount the token in all containers that mount nothing at this path."""
    volumes = spec.get("volumes") or []
    present = next((one["name"] for one in volumes if one.get("name", "").startswith(_TOKEN_VOLUME)), "")
    name = present or preparation.generate_name(_TOKEN_VOLUME)
    is_mounted = False
    for member in ("initContainers", "containers"):
        for container in spec.get(member) or ():
            mounts = container.get("volumeMounts") or []
            if all(mount.get("mountPath") != _TOKEN_PATH for mount in mounts):
                container["volumeMounts"] = [*mounts, {"name": name, "readOnly": True, "mountPath": _TOKEN_PATH}]
                is_mounted = True
    if is_mounted and not present:
        token = {"name": name, "projected": {"sources": _TOKEN_SOURCES, "defaultMode": 0o644}}
        spec["volumes"] = [*volumes, token]


def _unlisted(spec: Mapping[str, Any], account: _Account) -> Iterator[str]:
    """Each secret that a pod refers to and its account does not list."""
    because = f"is not allowed because service account {account.name} does not reference that"
    for volume in spec.get("volumes") or ():
        secret = (volume.get("secret") or {}).get("secretName", "")
        if volume.get("secret") is not None and secret not in account.secrets:
            yield f'volume with secret.secretName="{secret}" {because} secret'
    for member, title in (("initContainers", "init container"), ("containers", "container")):
        for container in spec.get(member) or ():
            yield from _unlisted_in(container, title, account)
    for index, reference in enumerate(spec.get("imagePullSecrets") or ()):
        name = reference.get("name", "")
        if name not in account.pull_secrets:
            yield f'imagePullSecrets[{index}].name="{name}" {because} imagePullSecret'


def _unlisted_of_ephemeral(spec: Mapping[str, Any], account: _Account) -> Iterator[str]:
    for container in spec.get("ephemeralContainers") or ():
        yield from _unlisted_in(container, "ephemeral container", account)


def _unlisted_in(container: Mapping[str, Any], title: str, account: _Account) -> Iterator[str]:
    subject = f"{title} {container.get('name', '')}"
    because = f"is not allowed because service account {account.name} does not reference that secret"
    for variable in container.get("env") or ():
        reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
        if reference is not None and reference.get("name", "") not in account.secrets:
            secret = f'secret.secretName="{reference.get("name", "")}"'
            yield f"{subject} with envVar {variable.get('name', '')} referencing {secret} {because}"
    for source in container.get("envFrom") or ():
        reference = source.get("secretRef")
        if reference is not None and reference.get("name", "") not in account.secrets:
            yield f'{subject} with envFrom referencing secret.secretName="{reference.get("name", "")}" {because}'
