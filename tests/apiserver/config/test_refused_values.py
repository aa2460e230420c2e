"""Flags with values that are no value of their type or out of bounds: the messages that kube-apiserver v1.36 prints."""

import pytest

from aio_apiserver.apiserver.config.flag_grammar import UsageError
from tests.apiserver.config.test_settings import of

SYNTAX = "invalid syntax"
BETWEEN = "must be between 0 and 65535, inclusive"
WITH_0 = "With 0 the server takes a free port"
ILL_TYPED = {
    "--secure-port=abc": f'strconv.ParseInt: parsing "abc": {SYNTAX}',
    "--secure-port=1.5": f'strconv.ParseInt: parsing "1.5": {SYNTAX}',
    "--secure-port=": f'strconv.ParseInt: parsing "": {SYNTAX}',
    "--secure-port=99999999999999999999": 'strconv.ParseInt: parsing "99999999999999999999": value out of range',
    "--default-not-ready-toleration-seconds=x": f'strconv.ParseInt: parsing "x": {SYNTAX}',
    "--bind-address=nope": 'failed to parse IP: "nope"',
    "--advertise-address=nope": 'failed to parse IP: "nope"',
    "--request-timeout=5": 'time: missing unit in duration "5"',
    "--request-timeout=abc": 'time: invalid duration "abc"',
    "--request-timeout=1d": 'time: unknown unit "d" in duration "1d"',
    "--event-ttl=": 'time: invalid duration ""',
    "--watch-cache=yes": f'strconv.ParseBool: parsing "yes": {SYNTAX}',
    "--allow-privileged=2": f'strconv.ParseBool: parsing "2": {SYNTAX}',
    "--audit-webhook-batch-throttle-qps=x": f'strconv.ParseFloat: parsing "x": {SYNTAX}',
    "--service-node-port-range=1-x": f'strconv.Atoi: parsing "x": {SYNTAX}',
    "--service-node-port-range=40000-30000": "end port cannot be less than start port: 40000-30000",
    "--service-node-port-range=1-99999999": "the port range cannot be greater than 65535: 1-99999999",
    "--vmodule=x": '"x" does not have the pattern=N format',
    "--goaway-chance=x": f'strconv.ParseFloat: parsing "x": {SYNTAX}',
    "--max-connection-bytes-per-sec=x": f'strconv.ParseInt: parsing "x": {SYNTAX}',
    "--etcd-readycheck-timeout=5": 'time: missing unit in duration "5"',
    "--contention-profiling=x": f'strconv.ParseBool: parsing "x": {SYNTAX}',
}
RANGE = "--service-cluster-ip-range"
REFUSED = {
    "--request-timeout=-1s": "--request-timeout can not be negative value",
    "--max-requests-inflight=-1": "--max-requests-inflight can not be negative value",
    "--min-request-timeout=-1": "--min-request-timeout can not be negative value",
    "--shutdown-delay-duration=-1s": "--shutdown-delay-duration can not be negative value",
    f"{RANGE}=10.0.0.0": "service-cluster-ip-range[0] is not a valid cidr",
    f"{RANGE}=10.0.0.0/16,x/8": "service-cluster-ip-range[1] is not a valid cidr",
    f"{RANGE}=10.0.0.0/16,10.1.0.0/16": f"{RANGE}[0] and {RANGE}[1] must be of different IP family",
    f"{RANGE}=10.0.0.0/16,fd00::/108,fd01::/108": f"{RANGE} must not contain more than two entries",
    f"{RANGE}=10.0.0.0/31": "error determining service IP ranges for primary service cidr: the service cluster IP "
    "range must be at least 8 IP addresses",
    "--feature-gates=Nope=true": "unrecognized feature gate: Nope",
    "--feature-gates=WatchList=maybe": "invalid value of WatchList=maybe, err: "
    f'strconv.ParseBool: parsing "maybe": {SYNTAX}',
    "--feature-gates=WatchList": "missing bool value for WatchList",
    "--storage-media-type=x": '--storage-media-type "x" invalid, allowed values: application/msgpack, '
    "application/json, application/vnd.kubernetes.protobuf",
    "--tls-min-version=VersionTLS9": 'unknown tls version "VersionTLS9"',
    "--tls-cipher-suites=X": "Cipher suite X not supported or doesn't exist",
    "--logging-format=xml": 'format: Invalid value: "xml": Unsupported log format',
    "--authorization-mode=Nope": 'authorization-mode "Nope" is not a valid mode',
    "--watch-cache-sizes=pods": "invalid value of watch cache size: pods",
    "--watch-cache-sizes=pods#x": "invalid size of watch cache size: pods#x",
    "--audit-log-maxsize=-1": "--audit-log-maxsize -1 can't be a negative number",
    "--audit-log-mode=never": 'invalid audit log mode never, allowed modes are "batch,blocking,blocking-strict"',
    "--audit-log-version=x": 'invalid group version, allowed versions are ["audit.k8s.io/v1"]',
}
OUR_BOUNDS = {
    "--secure-port=99999": f"--secure-port 99999 {BETWEEN}. {WITH_0}",
    "--secure-port=-1": f"--secure-port -1 {BETWEEN}. {WITH_0}",
    "--kubelet-port=99999": f"--kubelet-port 99999 {BETWEEN}",
    "--workers=-1": "--workers should be a positive number, but value '-1' provided",
}
"""kube-apiserver's words, with bounds of this server: kube-apiserver has no port 0, or does not check."""


def complaint(argument: str) -> str:
    with pytest.raises(UsageError) as refusal:
        of(argument)
    return str(refusal.value)


@pytest.mark.parametrize("argument", ILL_TYPED)
def test_a_text_of_another_type_is_refused_as_by_kube_apiserver(argument: str) -> None:
    name, _, text = argument.partition("=")

    assert complaint(argument) == f'invalid argument "{text}" for "{name}" flag: {ILL_TYPED[argument]}'


@pytest.mark.parametrize("argument", REFUSED)
def test_a_value_out_of_bounds_is_refused_as_by_kube_apiserver(argument: str) -> None:
    assert complaint(argument) == REFUSED[argument]


@pytest.mark.parametrize("argument", OUR_BOUNDS)
def test_bounds_of_this_server_are_named(argument: str) -> None:
    assert complaint(argument) == OUR_BOUNDS[argument]


@pytest.mark.parametrize(("text", "port"), [("0x50", 80), ("010", 8), ("0b11", 3), ("+7", 7)])
def test_numbers_are_read_with_gos_prefixes(text: str, port: int) -> None:
    assert of(f"--secure-port={text}").secure_port == port


def test_no_message_is_pydantics() -> None:
    messages = [complaint(argument) for argument in (*ILL_TYPED, *REFUSED, *OUR_BOUNDS)]

    assert not [message for message in messages if "Input should" in message]
