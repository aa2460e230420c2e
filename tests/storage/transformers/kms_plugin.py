"""A KMS v2 plugin with real keys in memory, served over gRPC on a unix socket; it can fail like real plugins.

It shares no code with the product: the tests' own protobuf codec encodes its messages.
"""

import asyncio
import os
from collections import Counter
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tests.storage.transformers import steps

ANNOTATION = "version.encryption.example.org"


class KmsPlugin:
    """Encrypts with its newest key and decrypts with all keys. Tests can set its answers."""

    def __init__(self, socket: Path) -> None:
        self.endpoint = f"unix://{socket}"
        self.keys = {"key-1": AESGCM.generate_key(256)}
        self.key_id = "key-1"
        self.healthz = "ok"
        self.version = "v2"
        self.annotations = {ANNOTATION: b"1"}
        self.encrypts_as = ""
        self.failure: grpc.StatusCode | None = None
        self.raw_answer: bytes | None = None
        self.calls: Counter[str] = Counter()
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.asked: asyncio.Queue[str] = asyncio.Queue()
        self._socket = socket
        self._server: Any = None

    async def start(self) -> None:
        methods = {name: self._handler(name) for name in ("Status", "Encrypt", "Decrypt")}
        self._server = grpc.aio.server()
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("v2.KeyManagementService", methods),)
        )
        self._server.add_insecure_port(f"unix:{self._socket}")
        await self._server.start()

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop(None)
            self._server = None

    def rotate(self, key_id: str) -> None:
        self.keys[key_id] = AESGCM.generate_key(256)
        self.key_id = key_id

    def wrap(self, key_id: str, plaintext: bytes) -> bytes:
        """The result of Encrypt, bound to the key id and the annotations."""
        nonce = os.urandom(12)
        return nonce + AESGCM(self.keys[key_id]).encrypt(nonce, plaintext, self._bound(key_id, self.annotations))

    def unwrap(self, key_id: str, ciphertext: bytes, annotations: dict[str, bytes]) -> bytes:
        """The result of Decrypt."""
        bound = self._bound(key_id, annotations)
        return AESGCM(self.keys[key_id]).decrypt(ciphertext[:12], ciphertext[12:], bound)

    def _handler(self, name: str) -> Any:
        answer = {"Status": self._status, "Encrypt": self._encrypt, "Decrypt": self._decrypt}[name]

        async def handle(request: bytes, context: Any) -> bytes:
            self.calls[name] += 1
            self.asked.put_nowait(name)
            await self.may_answer.wait()
            if self.failure is not None:
                await context.abort(self.failure, "told to fail")
            if self.raw_answer is not None:
                return self.raw_answer
            try:
                return answer(steps.fields(request))
            except (InvalidTag, KeyError):
                await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "not encrypted by me")
                raise AssertionError from None

        return grpc.unary_unary_rpc_method_handler(handle)

    def _status(self, _request: dict[int, list[Any]]) -> bytes:
        return steps.message([(1, self.version.encode()), (2, self.healthz.encode()), (3, self.key_id.encode())])

    def _encrypt(self, request: dict[int, list[Any]]) -> bytes:
        assert request[2][0]
        key_id = self.encrypts_as or self.key_id
        return steps.message(
            [(1, self.wrap(key_id, request[1][0])), (2, key_id.encode()), *annotation_fields(3, self.annotations)]
        )

    def _decrypt(self, request: dict[int, list[Any]]) -> bytes:
        assert request[2][0]
        annotations = {}
        for entry in request.get(4, []):
            pair = steps.fields(entry)
            annotations[pair[1][0].decode()] = pair[2][0]
        return steps.message([(1, self.unwrap(request[3][0].decode(), request[1][0], annotations))])

    def _bound(self, key_id: str, annotations: dict[str, bytes]) -> bytes:
        return repr((key_id, sorted(annotations.items()))).encode()


def annotation_fields(number: int, annotations: dict[str, bytes]) -> list[steps.Field]:
    """A map<string, bytes> as the fields of its message."""
    return [(number, steps.message([(1, name.encode()), (2, value)])) for name, value in annotations.items()]
