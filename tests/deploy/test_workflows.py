"""The workflows of GitHub run the same steps as .ci/run, and the hooks of pre-commit run checks of scripts/check."""

import yaml

from tests.paths import ROOT


def test_the_workflow_runs_the_steps_of_continuous_integration() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())

    commands = [step["run"] for step in workflow["jobs"]["ci"]["steps"] if "run" in step]

    assert commands == ["bash .ci/run"]


def test_the_workflow_covers_the_versions_of_the_classifiers() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    prefix = '"Programming Language :: Python :: 3.'
    lines = [line.strip() for line in (ROOT / "pyproject.toml").read_text().splitlines()]
    versions = [f"3.{line.removeprefix(prefix)[:-2]}" for line in lines if line.startswith(prefix)]

    assert workflow["jobs"]["ci"]["strategy"]["matrix"]["python"] == versions


def test_the_hooks_are_checks_of_the_project() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    checks = (ROOT / "scripts" / "check").read_text().splitlines()

    assert [hook["entry"] for hook in hooks if hook["entry"] not in checks] == []
