"""The engine has etcd's messages and gRPC's codes without loading the libraries that define them."""

import subprocess
import sys

import grpc
from aetcd import rpc

import aio_apiserver.storage.kv.etcd.aetcd_rpc.rpc_pb2 as ours
from aio_apiserver.storage.kv.etcd.grpc_status import Code


def test_the_engine_loads_neither_grpc_nor_all_of_aetcd() -> None:
    program = (
        "import sys; import aio_apiserver.storage.kv.etcd.engine; print(sorted({'aetcd', 'grpc'} & {*sys.modules}))"
    )

    assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout == b"[]\n"


def test_the_messages_are_those_of_aetcd() -> None:
    assert ours.TxnRequest is rpc.TxnRequest


def test_the_codes_are_those_of_grpc() -> None:
    assert {code.name: code.value for code in Code} == {code.name: code.value[0] for code in grpc.StatusCode}
