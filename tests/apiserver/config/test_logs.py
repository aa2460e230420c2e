import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from aio_apiserver.apiserver.config import logs

logger = logging.getLogger("tests.logs")


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """The stream of the logs. The logging of the process is restored after the test."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers = []
    yield io.StringIO()
    root.handlers, root.level = handlers, level
    logging.captureWarnings(capture=False)


def test_text_is_klogs(stream: io.StringIO) -> None:
    logs.configure("text", 0, stream=stream)

    logger.info("served %d", 3)
    logger.warning("hm")

    first, second = stream.getvalue().splitlines()
    assert re.fullmatch(r"I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ test_logs\.py:\d+\] served 3", first)
    assert second.startswith("W")
    assert second.endswith("] hm")


def test_json_has_kubernetes_fields(stream: io.StringIO) -> None:
    logs.configure("json", 0, stream=stream)

    logger.info("served %d", 3)

    entry = json.loads(stream.getvalue())
    assert (entry["msg"], entry["v"]) == ("served 3", 0)
    assert re.fullmatch(r"test_logs\.py:\d+", entry["caller"])
    assert entry["ts"] > 1_700_000_000_000


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_failures_bring_their_traceback(stream: io.StringIO, log_format: str) -> None:
    logs.configure(log_format, 0, stream=stream)

    try:
        raise LookupError("gone")
    except LookupError:
        logger.exception("broken")

    assert "broken" in stream.getvalue()
    assert "LookupError: gone" in stream.getvalue()


@pytest.mark.parametrize(("verbosity", "is_written"), [(0, False), (3, False), (4, True)])
def test_details_are_written_from_v_4_on(stream: io.StringIO, verbosity: int, *, is_written: bool) -> None:
    logs.configure("text", verbosity, stream=stream)

    logger.debug("detail")

    assert ("detail" in stream.getvalue()) == is_written


def test_vmodule_raises_the_verbosity_of_the_modules_that_fit(stream: io.StringIO) -> None:
    logs.configure("text", 0, vmodule=("other*=9", "test_lo*=4"), stream=stream)

    logger.debug("detail")
    logging.getLogger("a").handle(logging.LogRecord("a", logging.DEBUG, "a.py", 1, "hidden", (), None))

    assert "detail" in stream.getvalue()
    assert "hidden" not in stream.getvalue()


def test_equal_warnings_are_written_ever_more_rarely_and_counted(stream: io.StringIO) -> None:
    logs.configure("text", 0, stream=stream)

    def warn(text: str, at: float) -> None:
        record = logging.LogRecord("a", logging.WARNING, "a.py", 1, "lost: %s", (text,), None)
        record.created = at
        logger.handle(record)

    for at in (100.0, 101.0, 109.0, 110.5, 121.0, 131.0):
        warn("etcd", at)
    warn("another", 101.0)

    assert [line.partition("] ")[2] for line in stream.getvalue().splitlines()] == [
        "lost: etcd",
        "lost: etcd (2 more of these were left out)",
        "lost: etcd (1 more of these were left out)",
        "lost: another",
    ]


def test_equal_errors_are_all_written(stream: io.StringIO) -> None:
    logs.configure("text", 0, stream=stream)

    for _ in range(2):
        logger.error("broken")

    assert stream.getvalue().count("broken") == 2


def test_fields_are_shown_as_klog_does(stream: io.StringIO) -> None:
    logs.configure("text", 0, stream=stream)

    logger.info("done", extra=logs.fielded(2, {"name": 'a"b', "count": 3, "hijacked": True}))

    assert stream.getvalue().endswith('] "done" name="a\\"b" count=3 hijacked=true\n')


def test_fields_are_members_of_json(stream: io.StringIO) -> None:
    logs.configure("json", 0, stream=stream)

    logger.info("done", extra=logs.fielded(2, {"count": 3}))

    entry = json.loads(stream.getvalue())
    assert (entry["msg"], entry["v"], entry["count"]) == ("done", 2, 3)
