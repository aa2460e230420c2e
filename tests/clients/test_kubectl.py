"""kubectl: what people type, and scripts. Bodies come as protobuf where kubectl has typed clients."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.clients.manifests import config_map, deployment

_PROGRAM = shutil.which("kubectl")

pytestmark = pytest.mark.skipif(_PROGRAM is None, reason="there is no kubectl on this machine")


@dataclass(frozen=True, slots=True)
class Kubectl:
    """kubectl in one namespace."""

    namespace: str
    environment: Mapping[str, str]

    def __call__(self, *arguments: str, given: object = None) -> str:
        """What it says; it must succeed. An object is given as a file on stdin."""
        ended = self.run(*arguments, given=given)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def run(self, *arguments: str, given: object = None) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(_PROGRAM), "--namespace", self.namespace, *arguments],
            input=None if given is None else json.dumps(given),
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "-o", "json"))

    def with_environment(self, **values: str) -> "Kubectl":
        return replace(self, environment={**self.environment, **values})


@pytest.fixture
def kubectl(kubeconfig: Path, namespace: str) -> Kubectl:
    home = str(kubeconfig.parent)
    return Kubectl(namespace, {"PATH": os.environ["PATH"], "HOME": home, "KUBECONFIG": str(kubeconfig)})


def test_it_creates_what_has_a_command_of_its_own(kubectl: Kubectl) -> None:
    other = f"{kubectl.namespace}-other"

    assert kubectl("create", "namespace", other) == f"namespace/{other} created\n"
    assert kubectl("create", "configmap", "a", "--from-literal=k=v") == "configmap/a created\n"
    assert kubectl("create", "secret", "generic", "s", "--from-literal=k=v") == "secret/s created\n"
    assert kubectl("create", "deployment", "web", "--image=nginx:1", "--replicas=2") == "deployment.apps/web created\n"
    assert kubectl("create", "service", "clusterip", "web", "--tcp=80:8080") == "service/web created\n"

    made = kubectl.json("get", "configmap/a", "secret/s", "deployment/web", "service/web")["items"]
    assert made[0]["data"] == {"k": "v"}
    assert made[1]["data"] == {"k": "dg=="}
    assert made[2]["spec"]["replicas"] == 2
    assert made[2]["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1"
    assert made[3]["spec"]["ports"] == [{"name": "80-8080", "port": 80, "protocol": "TCP", "targetPort": 8080}]


def test_it_prints_in_the_formats_that_people_ask_for(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", "--validate=false", given=config_map("a", {"k": "v"}, {"is": "a"}))

    assert kubectl("get", "configmaps", "-o", "name") == "configmap/a\n"
    assert yaml.safe_load(kubectl("get", "configmap", "a", "-o", "yaml"))["data"] == {"k": "v"}
    assert kubectl.json("get", "configmap", "a")["metadata"]["labels"] == {"is": "a"}
    assert kubectl("get", "configmap", "a", "-o", "jsonpath={.data.k}") == "v"
    assert re.match(r"NAME +(DATA +)?AGE +LABELS\na ", kubectl("get", "cm", "-o", "wide", "--show-labels"))
    assert kubectl("get", "cm", "-o", "custom-columns=N:.metadata.name", "--no-headers") == "a\n"


def test_it_selects_by_labels_and_fields(kubectl: Kubectl) -> None:
    for name in ("a", "b", "c"):
        kubectl("create", "-f", "-", "--validate=false", given=config_map(name, labels={"is": name}))

    assert kubectl("get", "cm", "-o", "name", "-l", "is in (a,c)") == "configmap/a\nconfigmap/c\n"
    assert kubectl("get", "cm", "-o", "name", "--field-selector=metadata.name=b") == "configmap/b\n"
    assert kubectl("get", "cm", "-o", "name", "--chunk-size=1") == "configmap/a\nconfigmap/b\nconfigmap/c\n"


def test_it_labels_and_annotates(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "a")

    kubectl("label", "configmap", "a", "k=1", "gone=1")
    kubectl("label", "configmap", "a", "k=2", "gone-", "--overwrite")
    kubectl("annotate", "configmap", "a", "note=n")
    unchanged = kubectl.run("label", "configmap", "a", "k=3")

    metadata = kubectl.json("get", "configmap", "a")["metadata"]
    assert metadata["labels"] == {"k": "2"}
    assert metadata["annotations"] == {"note": "n"}
    assert unchanged.returncode == 1


def test_it_patches_in_three_ways(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", "--validate=false", given=deployment("web"))

    kubectl("patch", "deployment", "web", "-p", _image("web", "nginx:2"))
    kubectl("patch", "deployment", "web", "--type=merge", "-p", '{"spec":{"paused":true}}')
    kubectl("patch", "deployment", "web", "--type=json", "-p", '[{"op":"remove","path":"/metadata/labels"}]')
    kubectl("patch", "deployment", "web", "--subresource=status", "-p", '{"status":{"replicas":1}}')
    kubectl("set", "image", "deployment/web", "helper=busybox:2")

    patched = kubectl.json("get", "deployment", "web")
    images = [one["image"] for one in patched["spec"]["template"]["spec"]["containers"]]
    assert images == ["nginx:2", "busybox:2"]
    assert patched["spec"]["paused"] is True
    assert "labels" not in patched["metadata"]
    assert patched["status"]["replicas"] == 1


def test_it_scales(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", "--validate=false", given=deployment("web"))

    said = kubectl("scale", "deployment/web", "--replicas=3", "--current-replicas=1")
    refused = kubectl.run("scale", "deployment/web", "--replicas=4", "--current-replicas=1")

    assert said == "deployment.apps/web scaled\n"
    assert refused.returncode == 1
    assert kubectl.json("get", "deployment", "web")["spec"]["replicas"] == 3


def test_it_replaces_unless_the_version_is_old(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", "--validate=false", given=config_map("a"))
    old = kubectl.json("get", "configmap", "a")

    kubectl("replace", "-f", "-", "--validate=false", given={**old, "data": {"k": "new"}})
    refused = kubectl.run("replace", "-f", "-", "--validate=false", given={**old, "data": {"k": "newer"}})

    assert kubectl("get", "configmap", "a", "-o", "jsonpath={.data.k}") == "new"
    assert "Error from server (Conflict)" in refused.stderr


def test_it_applies_on_the_client_side(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", "--validate=false", given=config_map("a", {"keep": "1", "drop": "1"}))

    changed = kubectl("apply", "-f", "-", "--validate=false", given=config_map("a", {"keep": "2"}))
    again = kubectl("apply", "-f", "-", "--validate=false", given=config_map("a", {"keep": "2"}))

    assert (changed, again) == ("configmap/a configured\n", "configmap/a unchanged\n")
    assert kubectl.json("get", "configmap", "a")["data"] == {"keep": "2"}


def test_it_edits(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "configmap", "a", "--from-literal=k=old")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nexec sed -i "s/k: old/k: new/" "$1"\n')
    editor.chmod(0o700)

    said = kubectl.with_environment(KUBE_EDITOR=str(editor))("edit", "configmap", "a", "--validate=false")

    assert said == "configmap/a edited\n"
    assert kubectl("get", "configmap", "a", "-o", "jsonpath={.data.k}") == "new"


def test_it_deletes_and_waits_for_the_deletion(kubectl: Kubectl) -> None:
    for name in ("a", "b"):
        kubectl("create", "configmap", name)
    kubectl("label", "configmap", "b", "k=v")

    kubectl("delete", "configmap", "a")
    waited = kubectl("wait", "--for=delete", "configmap/a", "--timeout=10s")
    kubectl("delete", "configmaps", "-l", "k=v", "--wait=false")
    missing = kubectl.run("delete", "configmap", "a")

    assert waited == ""
    assert missing.stderr == 'Error from server (NotFound): configmaps "a" not found\n'
    assert kubectl("get", "configmaps", "-o", "name") == ""


def test_it_waits_for_a_condition(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", "--validate=false", given=deployment("web"))
    available = '{"status":{"conditions":[{"type":"Available","status":"True"}]}}'
    kubectl("patch", "deployment", "web", "--subresource=status", "-p", available)

    said = kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=10s")

    assert said == "deployment.apps/web condition met\n"


def test_it_watches(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "a")
    watching = subprocess.Popen(
        [str(_PROGRAM), "--namespace", kubectl.namespace, "get", "configmaps", "-w", "-o", "name"],
        env=kubectl.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert watching.stdout is not None
        first = watching.stdout.readline()
        kubectl("create", "configmap", "b")
        second = watching.stdout.readline()
    finally:
        watching.terminate()
        watching.communicate()

    assert (first, second) == ("configmap/a\n", "configmap/b\n")


def test_it_lists_what_is_served(kubectl: Kubectl) -> None:
    resources = kubectl("api-resources", "-o", "name").split()
    versions = kubectl("api-versions").split()
    version = kubectl.json("version")

    assert {"configmaps", "deployments.apps", "customresourcedefinitions.apiextensions.k8s.io"} <= set(resources)
    assert {"v1", "apps/v1", "batch/v1"} <= set(versions)
    assert version["serverVersion"]["gitVersion"] == "v1.36.4"


def test_it_describes(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "a", "--from-literal=k=v")

    said = kubectl("describe", "configmap", "a")

    assert "Name:         a\n" in said
    assert "k:\n----\nv\n" in said


def _image(container: str, image: str) -> str:
    template = {"spec": {"containers": [{"name": container, "image": image}]}}
    return json.dumps({"spec": {"template": template}})
