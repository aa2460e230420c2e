"""ServiceAccount: the service account of a pod, and its token."""

from typing import Any

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.base.errors import Forbidden
from aio_apiserver.registry.plugins.admission.pods.service_account import ServiceAccount
from aio_apiserver.storage.interface import Storage
from tests.registry.plugins.admission.writes import write

PATH = "/var/run/secrets/kubernetes.io/serviceaccount"


async def account(kept: Storage, name: str, **more: Any) -> ServiceAccount:
    await kept.create(f"default/{name}", {"metadata": {"name": name, "namespace": "default"}, **more})
    return ServiceAccount(kept, ManualClock())


def pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}], **spec}}


async def test_a_pod_gets_the_default_account_and_its_token(kept: Storage) -> None:
    plugin = await account(kept, "default", imagePullSecrets=[{"name": "s"}])
    obj = pod()

    await plugin.mutate(write(obj))

    spec = obj["spec"]
    (mount,) = spec["containers"][0]["volumeMounts"]
    (volume,) = spec["volumes"]
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("default", "default")
    assert mount == {"name": volume["name"], "readOnly": True, "mountPath": PATH}
    assert volume["name"].startswith("kube-api-access-")
    assert [next(iter(source)) for source in volume["projected"]["sources"]] == [
        "serviceAccountToken",
        "configMap",
        "downwardAPI",
    ]
    assert spec["imagePullSecrets"] == [{"name": "s"}]


@pytest.mark.parametrize(("of_account", "of_pod", "is_mounted"), [(False, None, False), (False, True, True)])
async def test_who_wants_no_token_gets_none(
    kept: Storage, of_account: bool, of_pod: bool | None, is_mounted: bool
) -> None:
    plugin = await account(kept, "a", automountServiceAccountToken=of_account)
    obj = pod(serviceAccountName="a", **({} if of_pod is None else {"automountServiceAccountToken": of_pod}))

    await plugin.mutate(write(obj))

    assert ("volumes" in obj["spec"]) is is_mounted


async def test_what_stands_at_the_place_of_the_token_stays(kept: Storage) -> None:
    plugin = await account(kept, "a")
    mine = {"name": "mine", "mountPath": PATH}
    obj = pod(serviceAccountName="a", containers=[{"name": "c", "volumeMounts": [mine]}])

    await plugin.mutate(write(obj))

    assert obj["spec"]["containers"][0]["volumeMounts"] == [mine]
    assert "volumes" not in obj["spec"]


async def test_a_pod_of_a_missing_account_is_refused(kept: Storage) -> None:
    plugin = ServiceAccount(kept, ManualClock())

    with pytest.raises(Forbidden, match='error looking up service account default/x: serviceaccount "x" not found'):
        await plugin.mutate(write(pod(serviceAccountName="x")))


async def test_an_account_can_limit_the_secrets_of_its_pods(kept: Storage) -> None:
    enforcing = {"name": "a", "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}
    await kept.create("default/a", {"metadata": enforcing, "secrets": [{"name": "mine"}]})
    volumes = [{"name": "m", "secret": {"secretName": "mine"}}, {"name": "o", "secret": {"secretName": "other"}}]

    with pytest.raises(Forbidden, match='="other" is not allowed because service account a'):
        await ServiceAccount(kept, ManualClock()).mutate(write(pod(serviceAccountName="a", volumes=volumes)))


FROM_SECRET = {"env": [{"name": "K", "valueFrom": {"secretKeyRef": {"name": "other", "key": "k"}}}]}
ALL_OF_SECRET = {"envFrom": [{"secretRef": {"name": "other"}}]}


@pytest.mark.parametrize("source", [FROM_SECRET, ALL_OF_SECRET], ids=["env", "envFrom"])
@pytest.mark.parametrize("containers", ["containers", "initContainers", "ephemeralContainers"])
async def test_no_container_reads_a_secret_that_its_account_does_not_list(
    kept: Storage, containers: str, source: dict[str, Any]
) -> None:
    """CVE-2023-2728: ephemeral containers were not checked. CVE-2024-3177: envFrom was not checked."""
    enforcing = {"name": "a", "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}
    await kept.create("default/a", {"metadata": enforcing, "secrets": [{"name": "mine"}]})
    obj = pod(serviceAccountName="a", **{containers: [{"name": "c", **source}]})
    joins = containers == "ephemeralContainers"
    attributes = write(obj, old=pod(), subresource="ephemeralcontainers") if joins else write(obj)

    with pytest.raises(Forbidden, match='="other" is not allowed because service account a'):
        await ServiceAccount(kept, ManualClock()).validate(attributes)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"serviceAccountName": "a"}, "a mirror pod may not reference service accounts"),
        ({"imagePullSecrets": [{"name": "s"}]}, "a mirror pod may not reference secrets"),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]},
            "a mirror pod may not use ServiceAccountToken volume projections",
        ),
    ],
)
async def test_mirror_pods_refer_to_nothing(kept: Storage, spec: dict[str, Any], why: str) -> None:
    obj = pod(**spec)
    obj["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}

    with pytest.raises(Forbidden, match=why):
        await ServiceAccount(kept, ManualClock()).mutate(write(obj))
