"""Requests that follow the published OpenAPI documents get no 500 that kube-apiserver would not give."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import program
from tests.fuzz.described_requests import DescribedServer

PICKED = {
    "api/v1": re.compile(r"/(configmaps|pods|services)(/\{name\})?$").search,
    "apis/apps/v1": re.compile(r"/deployments(/\{name\}(/scale|/status)?)?$").search,
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DescribedServer]:
    with program.running(tmp_path, "--storage-backend=memory", "--disable-admission-plugins=ServiceAccount") as started:
        yield DescribedServer(started.url, tmp_path)


def test_described_requests_are_answered(server: DescribedServer) -> None:
    for document, is_picked in PICKED.items():
        server.try_document(document, examples=3, seed=1, is_picked=is_picked)

    assert server.wrong == []
    assert server.statuses.total() >= 100
    assert {200, 404, 422} <= set(server.statuses)
