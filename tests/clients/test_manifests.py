"""The manifests of tests/manifests, as tutorials have them: kubectl applies them, and finds nothing to change after."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.program import Program

MANIFESTS = Path(__file__).parents[1] / "manifests"

_PROGRAM = shutil.which("kubectl")

pytestmark = pytest.mark.skipif(_PROGRAM is None, reason="there is no kubectl on this machine")


def applied(server: Program, namespace: str) -> list[str]:
    """What kubectl says of each object."""
    ended = subprocess.run(
        [str(_PROGRAM), "--namespace", namespace, "apply", f"--filename={MANIFESTS}"],
        env={"PATH": os.environ["PATH"], "HOME": str(server.kubeconfig.parent), "KUBECONFIG": str(server.kubeconfig)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def test_a_second_apply_changes_nothing(server: Program, namespace: str) -> None:
    first = applied(server, namespace)
    second = applied(server, namespace)

    assert len(first) > len(list(MANIFESTS.glob("*.yaml"))) >= 40
    assert [line for line in first if not line.endswith(" created")] == []
    assert [line for line in second if not line.endswith(" unchanged")] == []
