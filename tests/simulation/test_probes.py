"""Probes that run a command in a simulated container, and how containers stop."""

from typing import Any

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient

_PODS = "/api/v1/namespaces/default/pods"
_HEALTHY = "touch /tmp/healthy; sleep 30; rm -f /tmp/healthy; sleep 600"
_CAT = ["cat", "/tmp/healthy"]  # noqa: S108


def _run(server: Server, client: BlockingClient, script: str, policy: str = "Always", **probes: Any) -> None:
    """Start a pod whose container runs a script, or serves when there is none."""
    command = {"image": "busybox", "args": ["/bin/sh", "-c", script]} if script else {"image": "nginx"}
    spec = {"containers": [{"name": "main", **command, **probes}], "restartPolicy": policy}
    client.request("POST", _PODS, {"metadata": {"name": "p"}, "spec": spec})
    server.clock.advance(0)


def _probe(*command: str, **more: int) -> dict[str, Any]:
    return {"exec": {"command": list(command)}, **more}


def _shown(client: BlockingClient) -> dict[str, Any]:
    status: dict[str, Any] = client.request("GET", f"{_PODS}/p")["status"]["containerStatuses"][0]
    return status


def _told(client: BlockingClient) -> list[tuple[str, str]]:
    events = client.request("GET", "/api/v1/namespaces/default/events")["items"]
    return [(one["reason"], one["message"]) for one in events if one["reason"] in ("Unhealthy", "Killing")]


def test_a_container_that_fails_its_liveness_probe_is_restarted(server: Server, client: BlockingClient) -> None:
    _run(server, client, _HEALTHY, livenessProbe=_probe(*_CAT, initialDelaySeconds=5, periodSeconds=5))

    server.clock.advance(39)
    assert (_shown(client)["restartCount"], _shown(client)["ready"]) == (0, True)

    server.clock.advance(2)
    shown = _shown(client)
    assert (shown["restartCount"], shown["lastState"]["terminated"]["exitCode"]) == (1, 137)
    assert "running" in shown["state"]
    unhealthy = "Liveness probe failed: cat: can't open '/tmp/healthy': No such file or directory\n"
    killing = "Container main failed liveness probe, will be restarted"
    assert sorted(set(_told(client))) == [("Killing", killing), ("Unhealthy", unhealthy)]

    server.clock.advance(40)
    shown = _shown(client)
    assert (shown["restartCount"], shown["state"]["waiting"]["reason"]) == (1, "CrashLoopBackOff")
    server.clock.advance(10)
    assert _shown(client)["restartCount"] == 2


def test_a_probe_finds_the_files_of_an_init_container_at_once(server: Server, client: BlockingClient) -> None:
    volumes = {"volumes": [{"name": "w", "emptyDir": {}}]}
    mounted = {"image": "busybox", "volumeMounts": [{"name": "w", "mountPath": "/w"}]}
    first = {"name": "first", "command": ["sh", "-c", "sleep 2; echo made > /w/f"], **mounted}
    side = {"name": "side", "command": ["sleep", "infinity"], "restartPolicy": "Always", **mounted}
    probe = _probe("test", "-f", "/w/f", periodSeconds=1, failureThreshold=1)
    main = {"name": "main", "command": ["sh", "-c", "cat /w/f; sleep 600"], "livenessProbe": probe, **mounted}
    spec = {"initContainers": [first, side], "containers": [main], **volumes}
    client.request("POST", _PODS, {"metadata": {"name": "p"}, "spec": spec})

    server.clock.advance(20)

    shown = _shown(client)
    assert (shown["restartCount"], "running" in shown["state"], _told(client)) == (0, True, [])


def test_a_failed_liveness_probe_ends_a_container_that_does_not_restart(server: Server, client: BlockingClient) -> None:
    _run(server, client, "sleep 1h", "Never", livenessProbe=_probe("false", periodSeconds=1, failureThreshold=1))

    server.clock.advance(1)

    pod = client.request("GET", f"{_PODS}/p")
    assert (pod["status"]["phase"], _shown(client)["state"]["terminated"]["exitCode"]) == ("Failed", 137)
    assert ("Killing", "Container main failed liveness probe") in _told(client)


def test_other_probes_wait_for_the_startup_probe(server: Server, client: BlockingClient) -> None:
    _run(
        server,
        client,
        "sleep 12; touch /started; sleep 1h",
        startupProbe=_probe("test", "-f", "/started", periodSeconds=5, failureThreshold=4),
        livenessProbe=_probe("test", "-f", "/started", periodSeconds=1, failureThreshold=1),
    )

    server.clock.advance(14)
    assert (_shown(client)["started"], _shown(client)["ready"]) == (False, False)
    server.clock.advance(2)
    assert (_shown(client)["started"], _shown(client)["ready"], _shown(client)["restartCount"]) == (True, True, 0)


def test_a_container_that_does_not_start_in_time_is_restarted(server: Server, client: BlockingClient) -> None:
    _run(server, client, "sleep 1h", startupProbe=_probe("sleep", "10", periodSeconds=5, failureThreshold=2))

    server.clock.advance(6)

    shown = _shown(client)
    assert (shown["restartCount"], shown["lastState"]["terminated"]["exitCode"]) == (1, 137)
    timed_out = 'Startup probe failed: command timed out: "sleep 10" timed out after 1s'
    assert {("Unhealthy", timed_out), ("Killing", "Container main failed startup probe, will be restarted")} == set(
        _told(client)
    )


def test_a_trap_has_its_time_to_stop_a_deleted_pod(server: Server, client: BlockingClient) -> None:
    _run(server, client, "_term(){ sleep 5; exit 143;}; trap _term SIGTERM; while true; do sleep 1; done")

    client.request("DELETE", f"{_PODS}/p")
    server.clock.advance(4)
    assert "running" in _shown(client)["state"]
    server.clock.advance(2)
    assert client.request("GET", _PODS)["items"] == []


def test_a_trap_decides_how_a_container_ends_that_fails_its_probe(server: Server, client: BlockingClient) -> None:
    probe = _probe("false", periodSeconds=1, failureThreshold=1)
    _run(server, client, "trap 'sleep 3; exit 7' TERM; sleep 1h", livenessProbe=probe)

    server.clock.advance(2)
    assert _shown(client)["restartCount"] == 0
    server.clock.advance(2)
    assert (_shown(client)["restartCount"], _shown(client)["lastState"]["terminated"]["exitCode"]) == (1, 7)


def test_a_program_without_a_simulation_passes_its_probe(server: Server, client: BlockingClient) -> None:
    _run(server, client, "", readinessProbe=_probe("pg_isready", "-q", initialDelaySeconds=5))

    server.clock.advance(4)
    assert not _shown(client)["ready"]
    server.clock.advance(2)
    assert _shown(client)["ready"]
