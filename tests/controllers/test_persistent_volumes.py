"""Persistent volumes and their claims, bound on a real server."""

from pathlib import Path

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import resources as places
from tests.controllers import clusters

_ALL = ("*", "-resourcequota-controller", "-disruption-controller")


def _claim(name: str, storage_class: str | None = None, *, size: str = "1Gi", **annotations: str) -> Object:
    spec: Object = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    given = {f"simulate.aio-apiserver/{rule}": text for rule, text in annotations.items()}
    return {"metadata": {"name": name, "annotations": given}, "spec": spec}


def _volume(name: str, *, size: str = "1Gi", policy: str = "Retain", storage_class: str = "", **spec: object) -> Object:
    return {
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": size},
            "hostPath": {"path": f"/{name}"},
            "persistentVolumeReclaimPolicy": policy,
            "storageClassName": storage_class,
            **spec,
        },
    }


def _class(name: str, *, mode: str = "Immediate", provisioner: str = "csi.example.com") -> Object:
    return {
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
        "allowVolumeExpansion": True,
    }


def _pod(name: str, claim: str) -> Object:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "a", "image": "b"}], "volumes": volumes, "terminationGracePeriodSeconds": 0},
    }


def _phase(items: dict[str, Object], key: str) -> str:
    return str((items.get(key, {}).get("status") or {}).get("phase", ""))


def _is(phase: str, *keys: str) -> clusters.Condition:
    return lambda items: all(_phase(items, key) == phase for key in keys)


async def test_a_claim_gets_the_smallest_volume_that_fits(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, "persistentvolume-binder-controller") as cluster:
        for name, size in (("big", "5Gi"), ("fitting", "2Gi"), ("small", "512Mi")):
            await cluster.client.create(places.PERSISTENT_VOLUMES, _volume(name, size=size))
        await cluster.until(places.PERSISTENT_VOLUMES, _is("Available", "big", "fitting", "small"))

        await cluster.client.create(places.PERSISTENT_VOLUME_CLAIMS, _claim("data", ""), namespace="default")

        items = await cluster.until(places.PERSISTENT_VOLUME_CLAIMS, _is("Bound", "default/data"))
        assert items["default/data"]["spec"]["volumeName"] == "fitting"
        assert items["default/data"]["status"]["capacity"] == {"storage": "2Gi"}
        await cluster.until(places.PERSISTENT_VOLUMES, _is("Bound", "fitting"))


async def test_a_claim_waits_for_a_volume_and_is_lost_with_it(tmp_path: Path) -> None:
    names = ("persistentvolume-binder-controller", "persistentvolume-protection-controller")
    async with clusters.running(tmp_path, *names) as cluster:
        await cluster.client.create(places.PERSISTENT_VOLUME_CLAIMS, _claim("data", ""), namespace="default")
        await cluster.until(
            places.EVENTS, lambda items: any(one["reason"] == "FailedBinding" for one in items.values())
        )

        volume = await cluster.client.create(places.PERSISTENT_VOLUMES, _volume("late"))
        await cluster.until(places.PERSISTENT_VOLUME_CLAIMS, _is("Bound", "default/data"))

        def drop(obj: Object) -> None:
            obj["metadata"].pop("finalizers", None)

        await cluster.client.delete(places.PERSISTENT_VOLUMES, volume)
        await cluster.client.change(places.PERSISTENT_VOLUMES, volume, drop)
        await cluster.until(places.PERSISTENT_VOLUME_CLAIMS, _is("Lost", "default/data"))


async def test_a_volume_is_kept_recycled_or_deleted_by_its_policy(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, *_ALL, simulate=True) as cluster:
        policies = ("Retain", "Recycle", "Delete")
        for policy in policies:
            volume = _volume(policy.lower(), policy=policy, storage_class=policy.lower())
            await cluster.client.create(places.PERSISTENT_VOLUMES, volume)
        claims = [
            await cluster.client.create(
                places.PERSISTENT_VOLUME_CLAIMS, _claim(policy.lower(), policy.lower()), namespace="default"
            )
            for policy in policies
        ]
        await cluster.until(
            places.PERSISTENT_VOLUME_CLAIMS, _is("Bound", *(f"default/{one.lower()}" for one in policies))
        )

        for claim in claims:
            await cluster.client.delete(places.PERSISTENT_VOLUME_CLAIMS, claim)

        await cluster.until(places.PERSISTENT_VOLUME_CLAIMS, lambda items: not items)
        await cluster.gone(places.PERSISTENT_VOLUMES, "delete")
        await cluster.until(places.PERSISTENT_VOLUMES, _is("Released", "retain"))
        await cluster.until(places.PERSISTENT_VOLUMES, _is("Available", "recycle"))


async def test_a_provisioner_makes_and_grows_the_volumes_of_storage_classes(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, *_ALL, simulate=True) as cluster:
        await cluster.until(places.STORAGE_CLASSES, lambda items: "standard" in items)
        claim = await cluster.client.create(places.PERSISTENT_VOLUME_CLAIMS, _claim("data"), namespace="default")
        items = await cluster.until(places.PERSISTENT_VOLUME_CLAIMS, _is("Bound", "default/data"))
        assert items["default/data"]["spec"]["storageClassName"] == "standard"
        assert items["default/data"]["spec"]["volumeName"] == f"pvc-{claim['metadata']['uid']}"

        def grow(obj: Object) -> None:
            obj["spec"]["resources"]["requests"]["storage"] = "2Gi"

        await cluster.client.change(places.PERSISTENT_VOLUME_CLAIMS, claim, grow)

        await cluster.until(
            places.PERSISTENT_VOLUME_CLAIMS,
            lambda items: items["default/data"]["status"]["capacity"] == {"storage": "2Gi"},
        )


async def test_annotations_keep_the_provisioner_from_a_claim(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, *_ALL, simulate=True) as cluster:
        await cluster.until(places.STORAGE_CLASSES, lambda items: "standard" in items)
        for name, phase in (("other", "Pending"), ("broken", "Failed"), ("fine", "Bound")):
            claim = _claim(name, phase=phase)
            await cluster.client.create(places.PERSISTENT_VOLUME_CLAIMS, claim, namespace="default")

        items = await cluster.until(places.PERSISTENT_VOLUME_CLAIMS, _is("Bound", "default/fine"))
        assert {_phase(items, f"default/{name}") for name in ("other", "broken")} == {"Pending"}
        await cluster.until(
            places.EVENTS, lambda items: any(one["reason"] == "ProvisioningFailed" for one in items.values())
        )


async def test_a_claim_waits_for_its_first_pod_and_the_pod_for_the_claim(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, *_ALL, simulate=True) as cluster:
        await cluster.until(places.SERVICE_ACCOUNTS, lambda items: "default/default" in items)
        await cluster.client.create(places.STORAGE_CLASSES, _class("late", mode="WaitForFirstConsumer"))
        local = _class("local", mode="WaitForFirstConsumer", provisioner="kubernetes.io/no-provisioner")
        await cluster.client.create(places.STORAGE_CLASSES, local)
        for name in ("late", "local"):
            await cluster.client.create(places.PERSISTENT_VOLUME_CLAIMS, _claim(name, name), namespace="default")
        await cluster.until(
            places.EVENTS,
            lambda items: sum(one["reason"] == "WaitForFirstConsumer" for one in items.values()) == 2,
        )

        for name in ("late", "local"):
            await cluster.client.create(places.PODS, _pod(name, name), namespace="default")

        items = await cluster.until(places.PODS, _is("Running", "default/late"))
        await cluster.until(places.PERSISTENT_VOLUME_CLAIMS, _is("Bound", "default/late"))
        assert _phase(items, "default/local") == "Pending"

        terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["node-0"]}]}]
        affinity = {"required": {"nodeSelectorTerms": terms}}
        await cluster.client.create(
            places.PERSISTENT_VOLUMES, _volume("disk", storage_class="local", nodeAffinity=affinity)
        )
        await cluster.until(places.PODS, _is("Running", "default/local"))


async def test_a_pod_keeps_its_claim_and_a_namespace_ends_with_both(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, *_ALL, simulate=True) as cluster:
        await cluster.until(places.STORAGE_CLASSES, lambda items: "standard" in items)
        namespace = await cluster.client.create(places.NAMESPACES, {"metadata": {"name": "work"}})
        await cluster.until(places.SERVICE_ACCOUNTS, lambda items: "work/default" in items)
        claim = await cluster.client.create(places.PERSISTENT_VOLUME_CLAIMS, _claim("data"), namespace="work")
        await cluster.client.create(places.PODS, _pod("user", "data"), namespace="work")
        await cluster.until(places.PODS, _is("Running", "work/user"))

        await cluster.client.delete(places.PERSISTENT_VOLUME_CLAIMS, claim)
        items = await cluster.until(
            places.PERSISTENT_VOLUME_CLAIMS, lambda items: items["work/data"]["metadata"].get("deletionTimestamp")
        )
        assert items["work/data"]["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]

        await cluster.client.delete(places.NAMESPACES, namespace)
        await cluster.gone(places.NAMESPACES, "work")
        await cluster.until(places.PERSISTENT_VOLUMES, lambda items: not items)


async def test_ephemeral_volumes_have_claims_of_their_own(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, *_ALL, simulate=True) as cluster:
        await cluster.until(places.SERVICE_ACCOUNTS, lambda items: "default/default" in items)
        pod = _pod("user", "")
        pod["spec"]["volumes"] = [{"name": "tmp", "ephemeral": {"volumeClaimTemplate": {"spec": _claim("")["spec"]}}}]

        made = await cluster.client.create(places.PODS, pod, namespace="default")

        await cluster.until(places.PODS, _is("Running", "default/user"))
        await cluster.until(places.PERSISTENT_VOLUME_CLAIMS, _is("Bound", "default/user-tmp"))
        await cluster.client.delete(places.PODS, made)
        await cluster.gone(places.PERSISTENT_VOLUME_CLAIMS, "default/user-tmp")
