"""The file of --admission-control-config-file."""

from pathlib import Path

import pytest

from aio_apiserver.apiserver.config import admission_config

HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n"


def written(directory: Path, text: str) -> Path:
    path = directory / "admission.yaml"
    path.write_text(text)
    return path


def test_without_a_file_nothing_is_configured() -> None:
    assert admission_config.load(None) == {}


def test_plugins_are_configured_in_the_file_or_in_one_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "limits.yaml").write_text("limits: []\n")
    entries = "plugins:\n- name: PodSecurity\n  configuration: {a: b}\n- name: EventRateLimit\n  path: limits.yaml\n"

    found = admission_config.load(written(tmp_path, HEAD + entries))

    assert found == {"PodSecurity": {"a": "b"}, "EventRateLimit": {"limits": []}}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kind: AdmissionConfiguration\n", "must be an AdmissionConfiguration"),
        (HEAD + "plugin: []\n", 'unknown field "plugin"'),
        (HEAD + "plugins:\n- name: Nobody\n", 'there is no admission plugin "Nobody"'),
        (HEAD + "plugins:\n- name: Priority\n- name: Priority\n", 'plugin "Priority" is configured twice'),
        (HEAD + "plugins:\n- path: x\n", "must be a map with a name"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        admission_config.load(written(tmp_path, text))
