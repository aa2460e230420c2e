"""Archives that other programs have packed, and malformed ones."""

import io
import tarfile

import pytest

from aio_apiserver.simulation.containers import tar_format
from aio_apiserver.simulation.containers.tar_format import MalformedArchive

LONG = "/".join(["directory"] * 20)


def _packed(format_: int) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=format_) as archive:
        entry = tarfile.TarInfo("d")
        entry.type = tarfile.DIRTYPE
        archive.addfile(entry)
        for name, data in (
            ("d/one", b"first"),
            (f"{LONG}/two" if format_ != tarfile.USTAR_FORMAT else "two", b"x" * 600),
        ):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), 1.5 if format_ == tarfile.PAX_FORMAT else 1
            archive.addfile(entry, io.BytesIO(data))
    return target.getvalue()


@pytest.mark.parametrize("format_", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_archives_of_all_usual_formats_are_read(format_: int) -> None:
    archive = _packed(format_)

    entries = list(tar_format.entries(archive))

    last = "two" if format_ == tarfile.USTAR_FORMAT else f"{LONG}/two"
    assert [(one.name.rstrip("/"), one.is_directory, one.is_file) for one in entries] == [
        ("d", True, False),
        ("d/one", False, True),
        (last, False, True),
    ]
    assert [archive[one.start : one.end] for one in entries] == [b"", b"first", b"x" * 600]


def test_a_name_may_have_a_prefix() -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo(f"{'a' * 90}/{'b' * 90}"))

    assert [one.name for one in tar_format.entries(target.getvalue())] == [f"{'a' * 90}/{'b' * 90}"]


def _head(size: bytes, kind: bytes = b"0") -> bytes:
    head = b"name".ljust(124, b"\0") + size.ljust(12, b"\0") + b"\0" * 12 + b" " * 8 + kind
    head = head.ljust(512, b"\0")
    return head[:148] + b"%06o\0 " % sum(head) + head[156:]


@pytest.mark.parametrize(
    "archive",
    [
        b"no archive",
        b"x" * 512,
        _head(b"777777777777"),
        _head(b"\x80" + b"\xff" * 11),
        _head(b"-0000000001"),
        _head(b"40001", b"x") + bytes(16_385),
        _head(b"10", b"x") + b"2 path=a".ljust(512, b"\0"),
    ],
    ids=[
        "no header",
        "no checksum",
        "too large",
        "negative in base 256",
        "negative",
        "a long header",
        "a short record",
    ],
)
def test_a_malformed_archive_is_refused(archive: bytes) -> None:
    with pytest.raises(MalformedArchive):
        list(tar_format.entries(archive))
