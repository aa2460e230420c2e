"""Targets: the functions that read bytes of clients, each as a function of bytes.

A target returns, or raises one of `REFUSALS`. Every other exception is a defect: the server would answer 500.
"""

import asyncio
import contextlib
import gzip
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
from aiohttp import WebSocketError, WSMessage, WSMsgType
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_parser import HttpRequestParser

from aio_apiserver.apiserver.wire import negotiation, parameters, request_info, urls
from aio_apiserver.apiserver.wire.ignored_frames import IgnoredFrames
from aio_apiserver.apiserver.wire.request_parser import AnyMethodParser, RequestParser
from aio_apiserver.base.budget import SLICE, Budget, BudgetExceeded
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.golang import durations, json_characters, json_errors, pem, quantity
from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.base.validation import addresses
from aio_apiserver.registry.base.validation import urls as urls_of_fields
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.groups.apiextensions.definitions.definition import Version
from aio_apiserver.registry.groups.apiextensions.serving import columns as table_columns
from aio_apiserver.registry.groups.apiextensions.serving import json_paths as paths_of_columns
from aio_apiserver.registry.groups.apiextensions.serving.json_path_steps import Unevaluable
from aio_apiserver.registry.groups.batch import schedules
from aio_apiserver.registry.groups.core.connections import connect_options
from aio_apiserver.registry.machinery.cel.syntax import Issue
from aio_apiserver.registry.machinery.cel.values import NONE, CostExceeded, EvaluationError
from aio_apiserver.registry.machinery.patch import body_errors, json_patch, merge_patch, strategic
from aio_apiserver.registry.machinery.patch.apply import fields as field_trees
from aio_apiserver.registry.machinery.schema import depth, strict, times
from aio_apiserver.registry.machinery.schema.validation import formats, patterns
from aio_apiserver.registry.machinery.selectors import fields, labels
from aio_apiserver.registry.machinery.serializers import protobuf, yaml
from aio_apiserver.registry.machinery.serializers.protobuf.envelope import MAGIC
from aio_apiserver.registry.plugins.authentication import jwts
from aio_apiserver.storage import codec
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.store import continue_token
from aio_apiserver.storage.transfer import archive
from aio_apiserver.storage.transfer.archive_frames import MAGIC as BACKUP_MAGIC
from tests.golden.recorded import TYPES
from tests.registry.machinery.cel.test_expressions import ENVIRONMENT, VALUE
from tests.registry.machinery.patch.apply.things import builtin_manager

SEEDS = Path(__file__).with_name("seeds")
REFUSALS = (
    StatusError,
    DecodeError,
    HttpProcessingError,
    StorageError,
    Issue,
    EvaluationError,
    CostExceeded,
    WebSocketError,
    BudgetExceeded,
    pem.PemError,
    paths_of_columns.InvalidJSONPath,
    Unevaluable,
    ValueError,
)
KIND = GroupVersionKind("apps", "v1", "Deployment")
DEPLOYMENT = TYPES.type_for("apps", "v1", "Deployment")
MANAGER = builtin_manager("apps", "v1", "Deployment")
MAPS = Kind(group="", plural="configmaps", kind="ConfigMap")
PRESENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "d", "labels": {"a": "b"}, "finalizers": ["a/b"]},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {},
            "spec": {"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 1}]}]},
        },
    },
}

_TOO_MANY_DIGITS = "integer string conversion"
"""Python's words for a number of thousands of digits, which reach no client."""
Target = Callable[[bytes], object]


def text_of(data: bytes) -> str:
    """The text that the server makes of bytes in a head."""
    return data.decode("utf-8", "surrogateescape")


def field_of(data: bytes) -> str:
    """The text that the server makes of bytes in a body."""
    return data.decode("utf-8", "replace")


def json_bodies(data: bytes) -> None:
    text = json_characters.readable(data)
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        json_errors.describe(text)
        return
    depth.check(value, text)
    orjson.dumps(DEPLOYMENT.canonical(DEPLOYMENT.decode(value, text=text).obj))
    strict.read(DEPLOYMENT.node, text)


def yaml_bodies(data: bytes) -> None:
    document = yaml.read(data)
    depth.check(document.value)
    DEPLOYMENT.canonical(DEPLOYMENT.decode(document.value, text=document.json).obj)


def protobuf_bodies(data: bytes) -> None:
    value = protobuf.to_value(MAGIC + data, TYPES, KIND)
    depth.check(value)
    orjson.dumps(DEPLOYMENT.canonical(DEPLOYMENT.decode(value).obj))


def json_patches(data: bytes) -> None:
    operations = orjson.loads(data)
    depth.check(operations, data)
    if not body_errors.operations_mismatch(operations, is_strict=True):
        body_errors.operations_errors(data, operations)
        orjson.dumps(json_patch.applied(objects.clone(PRESENT), operations or []))


def merge_patches(data: bytes) -> None:
    patch = patch_in(data)
    orjson.dumps(merge_patch.merged(objects.clone(PRESENT), patch))


def strategic_merge_patches(data: bytes) -> None:
    patch = patch_in(data)
    merged = strategic.merged(objects.clone(PRESENT), patch, DEPLOYMENT.node)
    orjson.dumps(DEPLOYMENT.canonical(DEPLOYMENT.convert(merged).obj))


def patch_in(data: bytes) -> dict[str, Any]:
    patch = orjson.loads(data)
    depth.check(patch, data)
    if body_errors.object_mismatch(patch) or patch is None:
        raise ValueError("no object")
    body_errors.object_errors(data, patch)
    assert isinstance(patch, dict)
    return patch


def applies(data: bytes) -> None:
    document = yaml.read(data)
    depth.check(document.value)
    if not isinstance(document.value, dict):
        raise ValueError("no object")
    live = MANAGER.apply(None, objects.clone(PRESENT), "first", force=False)
    orjson.dumps(MANAGER.apply(live, document.value, "second", force=True))


def cel_expressions(data: bytes) -> None:
    text = data.decode()
    try:
        ENVIRONMENT.compile(text).evaluate({"self": VALUE, "oldSelf": NONE}, limit=50_000, budget=Budget(SLICE))
    except ValueError as exc:
        raise AssertionError("CEL has errors of its own") from exc


def json_paths(data: bytes) -> None:
    paths_of_columns.compiled(field_of(data)).find(PRESENT, Budget(SLICE))


def columns_of_tables(data: bytes) -> None:
    """A path, the type of its column, and an object, each in a line."""
    path, of_type, obj, *_ = (*data.split(b"\n", 2), b"", b"{}")
    value = orjson.loads(obj)
    depth.check(value, obj)
    declared = {"name": "c", "type": field_of(of_type), "jsonPath": field_of(path)}
    columns = table_columns.of(Version("v1", True, {"additionalPrinterColumns": [declared] * 3}), {"kind": "Widget"})
    orjson.dumps(columns.cells({"metadata": {}, "spec": value}, 0.0))


def patterns_of_schemas(data: bytes) -> None:
    pattern, _, text = field_of(data).partition("\n")
    patterns.matches(pattern, text, Budget(SLICE))


def texts_of_fields(data: bytes) -> None:
    """Addresses, URLs, times, schedules and the formats of schemas."""
    text = field_of(data)
    schedules.error_of(text)
    for check in (addresses.validate, addresses.validate_cidr, addresses.warn, urls_of_fields.validate_webhook_url):
        check(text, "spec.field")
    for read in (times.time, times.micro_time, *formats.CHECKS.values()):
        with contextlib.suppress(*REFUSALS):
            read(text)


def field_sets(data: bytes) -> None:
    value = orjson.loads(data)
    depth.check(value, data)
    field_trees.decoded(value)


def connect_options_of(data: bytes) -> None:
    query = urls.parse_query(text_of(data))
    for kind in ("PodLogOptions", "PodExecOptions", "PodAttachOptions", "PodPortForwardOptions"):
        with contextlib.suppress(*REFUSALS):
            connect_options.read(kind, query)


def request_targets(data: bytes) -> None:
    target = urls.parse(text_of(data))
    for method in ("GET", "DELETE"):
        request_info.resolve(method, target.path, target.query)
    for read in (
        parameters.create_options,
        parameters.update_options,
        parameters.patch_options,
        parameters.delete_options,
    ):
        with contextlib.suppress(*REFUSALS):
            read(target.query)
    parameters.selection(target.query, MAPS)


def request_heads(data: bytes) -> None:
    loop = asyncio.new_event_loop()
    try:
        protocol = BaseProtocol(loop, None)
        parser = RequestParser(
            lambda: HttpRequestParser(protocol, loop, 2**16),
            lambda: AnyMethodParser(protocol, loop, 2**16),
            lambda _: None,
        )
        half = len(data) // 2
        for part in (data[:half], data[half:]):
            parser.feed_data(part)
    finally:
        loop.close()


def backups(data: bytes) -> None:
    """The frames of a backup, as they are before compression."""
    archive.verified(Path("backup"), io.BytesIO(gzip.compress(BACKUP_MAGIC + data, 1)))


def backup_files(data: bytes) -> None:
    archive.verified(Path("backup"), io.BytesIO(data))


class _Messages:
    """What a watch hears of its client."""

    def __init__(self) -> None:
        self.number = 0

    def feed_data(self, data: WSMessage, _size: int) -> None:
        assert data.type in (WSMsgType.PING, WSMsgType.CLOSE)
        self.number += 1

    def set_exception(self, exc: BaseException) -> None:
        raise exc

    def feed_eof(self) -> None: ...


def websocket_frames(data: bytes) -> None:
    messages = _Messages()
    frames = IgnoredFrames(messages, ManualClock().monotonic)
    half = len(data) // 2
    for part in (data[:half], data[half:]):
        frames.feed_data(part)
    assert messages.number <= 3


TARGETS: Mapping[str, Target] = {
    "json-bodies": json_bodies,
    "yaml-bodies": yaml_bodies,
    "protobuf-bodies": protobuf_bodies,
    "json-patches": json_patches,
    "merge-patches": merge_patches,
    "strategic-merge-patches": strategic_merge_patches,
    "applies": applies,
    "label-selectors": lambda data: labels.parse(text_of(data)),
    "field-selectors": lambda data: fields.parse(text_of(data), MAPS),
    "cel-expressions": cel_expressions,
    "json-paths": json_paths,
    "columns": columns_of_tables,
    "patterns": patterns_of_schemas,
    "texts-of-fields": texts_of_fields,
    "field-sets": field_sets,
    "connect-options": connect_options_of,
    "request-targets": request_targets,
    "request-heads": request_heads,
    "websocket-frames": websocket_frames,
    "accept-headers": lambda data: negotiation.parse_accept(text_of(data)),
    "continue-tokens": lambda data: continue_token.decode(text_of(data)),
    "tokens": lambda data: jwts.unverified(text_of(data), 1),
    "certificate-requests": lambda data: pem.read_request(data),
    "quantities": lambda data: quantity.canonical(field_of(data)),
    "durations": lambda data: durations.parse(field_of(data)),
    "backups": backups,
    "backup-files": backup_files,
    "stored-values": lambda data: codec.decode(data),
}


def is_refused(target: Target, data: bytes) -> bool:
    """Whether a target refuses the data. Raises what is no refusal."""
    try:
        target(data)
    except REFUSALS as refusal:
        if isinstance(refusal, UnicodeError) and not isinstance(refusal, UnicodeDecodeError):
            raise
        if _TOO_MANY_DIGITS in str(refusal):
            raise AssertionError("Python refused to read a number") from refusal
        return True
    return False


def seeds_of(name: str) -> list[bytes]:
    """The kept inputs of a target."""
    return [path.read_bytes() for path in sorted((SEEDS / name).iterdir())]
