"""An operator in kopf and a script in kr8s, on a resource of their own with rules in CEL."""

# mypy: allow-untyped-calls

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import kopf
import kr8s
import kr8s.asyncio
import pytest
import yaml
from kr8s.asyncio.objects import CustomResourceDefinition, new_class

from tests.clients.test_kopf import operating

pytestmark = pytest.mark.filterwarnings("ignore:Kubernetes version .* is not supported:UserWarning")

DEFINITION = Path(__file__).parent / "backups.yaml"
GROUP, VERSION, PLURAL = "storage.example.com", "v1", "backups"


@pytest.fixture
async def api(kubeconfig: Path, namespace: str) -> AsyncIterator[Any]:
    made: Any = await kr8s.asyncio.api(kubeconfig=str(kubeconfig), namespace=namespace)
    yield made
    await made._session.aclose()


@pytest.fixture
async def backup(api: Any) -> Any:
    """The class of the objects. They stay defined, as they do behind an operator."""
    crd = await CustomResourceDefinition(yaml.safe_load(DEFINITION.read_text()), api=api)
    if not await crd.exists():
        await crd.create()
    await crd.wait("jsonpath='{.status.acceptedNames.kind}'=Backup")  # kr8s stumbles over conditions that are null
    return new_class(kind="Backup", version=f"{GROUP}/{VERSION}", namespaced=True, plural=PLURAL)


def manifest(name: str, **spec: Any) -> dict[str, Any]:
    given = {"schedule": "0 3 * * *", "targets": [{"volume": "data"}], **spec}
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "Backup",
        "metadata": {"name": name},
        "spec": given,
    }


async def _done(made: Any) -> dict[str, Any]:
    """The object when the operator is done with it."""
    async for _, seen in made.watch():
        raw: dict[str, Any] = seen.raw.to_dict()
        if raw.get("status", {}).get("phase") == "Done":
            return raw
    raise AssertionError("the watch has ended")


async def test_an_operator_works_on_what_a_script_asks_for(
    api: Any, backup: Any, registry: kopf.OperatorRegistry, namespace: str
) -> None:
    deleted: asyncio.Queue[str] = asyncio.Queue()

    @kopf.on.create(GROUP, VERSION, PLURAL, registry=registry)
    async def create(spec: kopf.Spec, patch: kopf.Patch, **_: Any) -> None:
        patch.status["phase"] = "Done"
        patch.status["copies"] = spec["retention"]["copies"]

    @kopf.on.delete(GROUP, VERSION, PLURAL, registry=registry)
    async def delete(name: str, **_: Any) -> None:
        await deleted.put(name)

    async with operating(registry, namespace):
        made = await backup(manifest("nightly"), namespace=namespace, api=api)
        await made.create()
        done = await _done(made)
        await made.delete()
        gone = await deleted.get()

    assert done["spec"]["retention"] == {"copies": 3}
    assert done["spec"]["priority"] == 5
    assert done["status"]["copies"] == 3
    assert gone == "nightly"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"schedule": "* * * * *"}, "backups are not made every minute"),
        ({"window": {"start": 5, "end": 4}}, "a window begins before it ends"),
        ({"targets": []}, "a backup of nothing has to be suspended"),
        ({"retention": {"copies": 0}}, "at least one copy is kept"),
        ({"destination": {"bucket": {"url": "http://x"}}}, "buckets are reached by https"),
        ({"size": "big"}, "sizes are numbers or quantities"),
        ({"targets": [{"volume": "a"}, {"volume": "a"}]}, "Duplicate value"),
        ({"destination": {}}, "should have at least 1 properties"),
    ],
)
async def test_rules_refuse_what_is_wrong(api: Any, backup: Any, namespace: str, spec: Any, words: str) -> None:
    made = await backup(manifest("wrong", **spec), namespace=namespace, api=api)

    with pytest.raises(kr8s.ServerError, match=words):
        await made.create()


async def test_what_may_not_change_stays(api: Any, backup: Any, namespace: str) -> None:
    made = await backup(manifest("steady", storageClass="fast"), namespace=namespace, api=api)
    await made.create()

    with pytest.raises(kr8s.ServerError, match="the class of a backup stays as it is"):
        await made.patch({"spec": {"storageClass": "slow"}})
    await made.patch({"spec": {"retention": {"copies": 7}}})

    assert made.raw["spec"]["retention"]["copies"] == 7
    assert made.raw["spec"]["storageClass"] == "fast"
