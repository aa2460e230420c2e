"""Calls of the test bench with wrong arguments: mypy names each of them.

It is not run. mypy in strict mode reports an ignored error that it does not find any more.
"""

from aio_apiserver.testing import Server


def wrong(server: Server) -> None:
    Server(simulates=True)  # type: ignore[call-arg]
    Server(simulate="yes")  # type: ignore[arg-type]
    Server(manifests=3)  # type: ignore[arg-type]
    server.fault("trottle")  # type: ignore[arg-type]
    server.fault("throttle", verbs="patch")  # type: ignore[call-arg]
    server.fault("throttle", count="2")  # type: ignore[arg-type]
    server.requests.assert_none(verbs="delete")  # type: ignore[call-arg]
    server.requests.wait_for(count="2")  # type: ignore[arg-type]
    server.webhooks.validating("pods")  # type: ignore[arg-type]
    server.wait_for("pods", "web", within=3)  # type: ignore[call-arg]
    server.user()  # type: ignore[call-arg]
