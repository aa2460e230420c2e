import asyncio
import gc
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import kubernetes
import pytest

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.testing import Refused, Server
from aio_apiserver.testing.bench.clock import MovableClock
from aio_apiserver.testing.server_thread import ServerThread
from tests.testing.objects import CONFIG_MAPS, make, names

DEFINITION = """
apiVersion: example.com/v1
kind: Widget
metadata:
  name: first
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""


def left_overs(directory: Path) -> tuple[int, list[str], list[str]]:
    gc.collect()
    threads = [thread.name for thread in threading.enumerate() if thread.name == "apiserver"]
    return len(list(Path("/proc/self/fd").iterdir())), threads, [path.name for path in directory.iterdir()]


def use_one() -> None:
    with Server() as server, server.client() as client:
        names(client)


def test_nothing_is_left_of_a_server_that_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    gc.collect()  # what earlier tests have left ends meanwhile
    use_one()  # what a process opens once for all
    before = left_overs(tmp_path)

    for _ in range(3):
        use_one()

    assert left_overs(tmp_path) == before


async def test_a_server_runs_beside_an_event_loop() -> None:
    before = asyncio.all_tasks()

    async with Server() as server:
        with server.client() as client:
            version = client.request("GET", "/version")

    assert version["gitVersion"].startswith("v1.")
    assert asyncio.all_tasks() == before


def no_server_runs() -> bool:
    return not any(thread.name == "apiserver" for thread in threading.enumerate())


async def test_the_end_of_an_asynchronous_context_stops_a_server_that_refuses_to_withdraw_a_webhook() -> None:
    server = await Server().__aenter__()
    await server.webhooks.validating(lambda _review: None, "pods").__aenter__()
    server.inject("error", verb="delete", code=503)

    with pytest.raises(Refused):
        await server.__aexit__(None, None, None)

    assert no_server_runs()


async def test_a_start_that_is_cancelled_leaves_no_server() -> None:
    starting = asyncio.create_task(Server().__aenter__())
    await asyncio.sleep(0)

    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting

    assert no_server_runs()


def test_a_server_whose_event_loop_cannot_be_made_raises(tmp_path: Path) -> None:
    thread = ServerThread(Settings(data_dir=tmp_path), MovableClock(), None)
    _, most = limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, most))
    try:
        thread.start()
        with pytest.raises(OSError, match="Too many open files"):
            thread.started.result(timeout=10)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        thread.join()


def test_keys_in_a_folder_of_the_test_are_not_for_other_servers(tmp_path: Path) -> None:
    (tmp_path / "pki" / "old").mkdir(parents=True)
    with Server(cert_dir=tmp_path / "pki") as server, Server() as other:
        assert other.ca.read_bytes() != server.ca.read_bytes()


def test_servers_of_one_process_share_nothing_but_their_keys(server: Server) -> None:
    with Server() as other, server.client() as client, other.client() as other_client:
        make(client, "here")

        assert names(other_client) == []
        assert other.url != server.url
        assert other.ca.read_bytes() == server.ca.read_bytes()


def test_what_stands_in_the_way_of_a_start_is_raised_and_nothing_is_left(tmp_path: Path) -> None:
    server = Server(token_auth_file=tmp_path / "missing")
    before = set(threading.enumerate())  # those of other tests may end meanwhile

    with pytest.raises(FileNotFoundError):
        server.start()

    assert not set(threading.enumerate()) - before


def test_the_official_client_is_ready(server: Server) -> None:
    with server.clients.kubernetes() as api:
        found = kubernetes.client.CoreV1Api(api).list_namespace()

    assert "default" in [one.metadata.name for one in found.items if one.metadata is not None]


def test_manifests_are_there_from_the_start_and_after_a_reset(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(DEFINITION)
    widgets = "/apis/example.com/v1/namespaces/default/widgets"

    with Server(manifests=[tmp_path]) as server, server.client() as client:
        client.request("DELETE", f"{widgets}/first")
        server.reset()

        assert names(client, widgets) == ["first"]


def test_a_list_of_manifests_is_refused_with_the_remedy(server: Server) -> None:
    with pytest.raises(TypeError, match=r"apply\(\*manifests\)"):
        server.apply([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}])  # type: ignore[arg-type]


def test_a_manifest_that_cannot_be_put_is_named(server: Server) -> None:
    with pytest.raises(ValueError, match="the given object: Widget nobody"):
        server.apply({"apiVersion": "v1", "kind": "Widget", "metadata": {"name": "nobody"}})


def test_a_fork_begins_with_the_state_and_goes_its_own_way(server: Server) -> None:
    with server.client() as client:
        make(client, "common")
        with server.fork() as fork, fork.client() as forked:
            make(forked, "of-the-fork")

            assert names(forked) == ["common", "of-the-fork"]
        assert names(client) == ["common"]


def test_a_fork_begins_at_the_time_of_the_fork(server: Server) -> None:
    server.clock.advance(60)
    fork, then = server.fork(), server.clock.now
    server.clock.advance(3600)
    with fork:
        assert fork.clock.now - then < timedelta(minutes=1)


def test_requests_are_remembered_and_can_be_asked_for(server: Server) -> None:
    with server.client() as client:
        make(client, "asked")
        with pytest.raises(Refused):
            client.request("GET", f"{CONFIG_MAPS}/missing")

    (created,) = server.requests.matching(verb="create", resource="configmaps")
    assert (created.status, created.namespace, created.user) == (201, "default", "kubernetes-admin")
    assert [one.name for one in server.requests.matching(status=404)] == ["missing"]


BEING_KILLED = """
import os, signal
from aio_apiserver.testing import Server

with Server() as server:
    print(server.kubeconfig, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_nothing_is_left_of_a_process_that_is_killed(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}

    killed = subprocess.run([sys.executable, "-c", BEING_KILLED], env=environment, capture_output=True, timeout=60)

    assert killed.returncode == -signal.SIGKILL
    assert killed.stdout.decode().startswith(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def misused(call: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """Call without the eyes of the type checker."""
    return call(*given, **named)


def test_what_a_flag_takes_several_of_may_be_said_once() -> None:
    with Server(authorization_mode="RBAC", controllers="-*") as server:
        assert server.user("jane").name == "jane"


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        (
            lambda _: misused(Server, autorization_mode="RBAC"),
            "no flag autorization_mode: did you mean authorization_mode",
        ),
        (lambda _: misused(Server, colour="blue"), "no flag colour$"),
        (lambda _: Server(secure_port=99999).start(), "^secure_port: --secure-port 99999 must be between 0 and 65535"),
        (lambda server: server.inject("trottle"), "no fault 'trottle': did you mean throttle"),
        (lambda server: server.inject("gone", verbs="get"), "there is no field 'verbs': did you mean verb"),
        (lambda server: server.inject("gone", verb="PATCH"), "no request has the verb 'PATCH': did you mean patch"),
        (
            lambda server: server.inject("gone", resource="deploymnts.apps"),
            "no resource 'deploymnts.apps': did you mean deployments.apps",
        ),
        (
            lambda server: server.inject("gone", resource="deployments"),
            "no resource 'deployments': did you mean deployments.apps",
        ),
        (lambda server: server.inject("throttle", delay=1), "throttle has no delay"),
        (lambda server: server.inject("latency"), "latency needs a delay"),
        (lambda server: server.restore("x"), "restore takes the result of snapshot"),
        (lambda server: server.clock.set("tomorrow"), "'tomorrow' is no moment: write RFC 3339"),
        (lambda server: server.wait_for("deployments", "web"), "did you mean deployments.apps"),
        (
            lambda server: server.webhooks.validating(print, "podz"),
            "no resource 'podz': did you mean pods",
        ),
        (
            lambda server: server.webhooks.validating(print, "pods", failurepolicy="Ignore"),
            "a webhook has no field failurepolicy: did you mean failurePolicy",
        ),
        (
            lambda server: server.webhooks.validating(print, "pods", operations=["Create"]),
            "no operation 'Create': did you mean CREATE",
        ),
        (
            lambda server: server.apply({"kind": "Foo", "apiVersion": "v1", "metadata": {"name": "a"}}),
            "/api/v1 has no kind Foo",
        ),
        (lambda server: server.webhooks.mutating("pods", print), "the first argument of a webhook is its function"),
        (lambda server: server.webhooks.mutating(print), "a webhook needs resources"),
        (lambda server: server.clock.advance(-1), "time does not run backwards"),
        (lambda server: server.fault("gone", resource="podz"), "no resource 'podz': did you mean pods"),
        (lambda server: server.fault("trottle"), "there is no fault 'trottle': did you mean throttle"),
        (lambda server: server.requests.matching(fault="trottle"), "no request has the fault 'trottle'"),
        (lambda server: server.requests.matching(fault="fault-1: gon"), "did you mean gone"),
        (
            lambda server: server.webhooks.validating(print, "pods", failurePolicy="Ignored"),
            "a webhook has no failurePolicy 'Ignored': did you mean Ignore",
        ),
        (lambda server: server.webhooks.validating(print, "pods", sideEffects=3), "it is None or NoneOnDryRun"),
        (lambda server: server.user(""), "a user's name has 1 to 64 characters"),
        (lambda server: server.user("x" * 65), "a user's name has 1 to 64 characters"),
    ],
)
def test_mistakes_are_told_with_what_would_be_right(server: Server, mistake: Any, told: str) -> None:
    with pytest.raises((TypeError, ValueError), match=told):
        mistake(server)


def test_a_fault_or_a_webhook_that_no_block_uses_warns(server: Server) -> None:
    with pytest.warns(RuntimeWarning, match="the fault conflict was never injected: write `with"):
        server.fault("conflict")
    with pytest.warns(RuntimeWarning, match="a webhook was never registered: write `with"):
        server.webhooks.validating(print, "pods")


def test_a_client_can_be_closed_without_a_block(server: Server) -> None:
    client = server.client()
    client.request("GET", "/version")

    client.close()
    client.close()
