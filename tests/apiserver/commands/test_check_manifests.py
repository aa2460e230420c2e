"""`apiserver check-manifests`: what another minor of Kubernetes makes of manifests."""

from pathlib import Path

import pytest

from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.testing import check_manifests

REFUSED = """\
apiVersion: v1
kind: Pod
metadata: {name: zeros}
spec: {containers: [{name: c, image: i}], hostAliases: [{ip: 010.1.2.3, hostnames: [a]}]}
"""
NEW = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: new}
spec: {policyName: p}
"""
FINE = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: fine, namespace: team}
"""
ODD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: odd}
"""


def run(folder: Path, *documents: str) -> int:
    (folder / "all.yaml").write_text("---\n".join(documents))
    return check_manifests.run(["--from", "1.35", "--to=1.36", str(folder)])


def test_it_shows_what_the_newer_minor_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(tmp_path, REFUSED, FINE)

    head, row = capsys.readouterr().out.splitlines()
    assert code == 1
    assert head.split() == ["MANIFEST", "MINOR", "EFFECT", "DETAIL"]
    assert row.split()[1:5] == ["Pod", "zeros", "1.36", "refused"]
    assert "must not have leading 0s" in row


def test_a_manifest_that_both_minors_treat_alike_has_no_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, FINE) == 0
    assert capsys.readouterr().out == "No manifest is refused, warned of or changed.\n"


def test_what_the_older_minor_refuses_is_shown_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(tmp_path, NEW, ODD)

    rows = [line.split()[1:5] for line in capsys.readouterr().out.splitlines()[1:]]
    assert code == 1
    assert rows == [
        ["MutatingAdmissionPolicyBinding", "new", "1.35", "refused"],
        ["MutatingAdmissionPolicyBinding", "new", "1.36", "accepted"],
        ["Deployment", "odd", "1.35", "refused"],
    ]


@pytest.mark.parametrize("words", [["DIR"], ["--from", "1.35", "DIR"], ["--from=1.35", "--to=1.12", "DIR"]])
def test_it_refuses_arguments_that_are_missing_or_wrong(words: list[str]) -> None:
    with pytest.raises(UsageError, match="check-manifests"):
        check_manifests.run(words)
