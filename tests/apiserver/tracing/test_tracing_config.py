"""tracing_config: the files that kube-apiserver accepts, and its errors for others."""

from pathlib import Path

import pytest

from aio_apiserver.apiserver.tracing import tracing_config

HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"


def read(tmp_path: Path, text: str) -> tracing_config.TracingConfiguration:
    path = tmp_path / "tracing.yaml"
    path.write_text(text)
    return tracing_config.read(path)


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_all_versions_are_read(tmp_path: Path, version: str) -> None:
    found = read(tmp_path, f"apiVersion: apiserver.config.k8s.io/{version}\nkind: TracingConfiguration\n")

    assert (found.endpoint, found.sampling_rate_per_million) == ("localhost:4317", 0)


def test_endpoint_and_rate_are_read(tmp_path: Path) -> None:
    found = read(tmp_path, f"{HEAD}endpoint: unix:///run/otel.sock\nsamplingRatePerMillion: 100\n")

    assert (found.endpoint, found.sampling_rate_per_million) == ("unix:///run/otel.sock", 100)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"{HEAD}samplingRatePerMillion: -1",
            "samplingRatePerMillion: Invalid value: -1: sampling rate must be positive",
        ),
        (
            f"{HEAD}samplingRatePerMillion: 1000001",
            "1000001: sampling rate per million must be less than or equal to one",
        ),
        (f"{HEAD}samplingRatePerMillion: '5'", "samplingRatePerMillion: Input should be a valid integer"),
        (
            f"{HEAD}endpoint: https://collector:4317",
            'Invalid value: "https://collector:4317": unsupported scheme: https.',
        ),
        (f"{HEAD}headers: {{}}", "headers: Extra inputs are not permitted"),
        ("kind: TracingConfiguration", "must be of kind TracingConfiguration in apiserver.config.k8s.io/v1 or"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match="failed to read tracing config") as caught:
        read(tmp_path, text)

    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"tracing-config-file .*none.yaml does not exist"):
        tracing_config.read(tmp_path / "none.yaml")
