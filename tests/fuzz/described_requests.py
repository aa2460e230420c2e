"""Described requests: schemathesis makes requests from the OpenAPI documents that the server publishes.

Must hold: no request names a host that the server dials, and no watch waits.
"""

import json
import re
import ssl
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from tests.fuzz.internal_errors import reason

_SECONDS = 30
_LEFT_OUT = re.compile(
    r"/(proxy|exec|attach|portforward|log|watch)\b|webhook|apiservices|customresourcedefinitions|\.well-known"
)
_DOCUMENTS_LEFT_OUT = re.compile(r"admissionregistration|apiregistration")


class DescribedServer:
    """A server whose OpenAPI v3 documents are tried, as its administrator."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url = url
        self._ca = folder / "pki" / "ca.crt"
        self._headers = {"Authorization": f"Bearer {(folder / 'pki' / 'admin.token').read_text().strip()}"}
        self.statuses: Counter[int] = Counter()
        self.wrong: list[str] = []

    def documents(self) -> Sequence[str]:
        """The paths of the documents, without those of configurations that name hosts."""
        return [path for path in self._read("/openapi/v3")["paths"] if not _DOCUMENTS_LEFT_OUT.search(path)]

    def try_document(self, document: str, *, examples: int, seed: int, is_picked: Callable[[str], Any] = str) -> None:
        """Send requests to the operations of a document."""
        schema = schemathesis.openapi.from_dict(self._read(f"/openapi/v3/{document}"))
        for operation in self._operations(schema, is_picked):
            self._try(operation, examples, seed)

    def _operations(self, schema: Any, is_picked: Callable[[str], Any]) -> Iterator[Any]:
        for found in schema.get_all_operations():
            operation = found.ok()
            if is_picked(operation.path) and not _LEFT_OUT.search(operation.path):
                yield operation

    def _try(self, operation: Any, examples: int, seed: int) -> None:
        @seeded(seed)
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def send(case: Any) -> None:
            if "namespace" in case.path_parameters:
                case.path_parameters["namespace"] = "default"
            for waiting in ("watch", "timeoutSeconds"):
                (case.query or {}).pop(waiting, None)
            headers = self._headers | ({} if case.method == "PATCH" else {"Content-Type": "application/json"})
            self._judge(case, case.call(base_url=self._url, headers=headers, verify=str(self._ca), timeout=_SECONDS))

        send()

    def _judge(self, case: Any, answer: Any) -> None:
        self.statuses[answer.status_code] += 1
        if answer.status_code == 500 and not reason(answer.text):
            self.wrong.append(f"{case.method} {case.path} {case.body!r:.2000} {answer.text}")

    def _read(self, path: str) -> Any:
        tls = ssl.create_default_context(cafile=self._ca)
        with urlopen(Request(self._url + path, headers=self._headers), context=tls) as answer:  # noqa: S310 - https
            return json.load(answer)
