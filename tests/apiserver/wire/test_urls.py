import pytest
from hypothesis import given
from hypothesis import strategies as st

from aio_apiserver.apiserver.wire import urls


@pytest.mark.parametrize(
    ("raw", "path", "query"),
    [
        ("/", "/", {}),
        ("/a%20b", "/a b", {}),
        ("/a+b", "/a+b", {}),
        ("/a%2Fb", "/a/b", {}),
        ("//a/../b/./", "//a/../b/./", {}),
        ("/a%252f", "/a%2f", {}),
        ("/%C3%A9", "/é", {}),
        ("/%ff", "/\ufffd", {}),
        ("/a?", "/a", {}),
        ("/a?x=1&y=2&x=3", "/a", {"x": ["1", "3"], "y": ["2"]}),
        ("/a?watch", "/a", {"watch": [""]}),
        ("/a?x=a+b%20c", "/a", {"x": ["a b c"]}),
        ("/a?x=1?y=2", "/a", {"x": ["1?y=2"]}),
        ("/a?&&x=1&", "/a", {"x": ["1"]}),
        ("http://host:1/a%20b?x=1", "/a b", {"x": ["1"]}),
        ("http://host", "/", {}),
    ],
)
def test_reads_paths_and_queries(raw: str, path: str, query: dict[str, list[str]]) -> None:
    target = urls.parse(raw)

    assert (target.path, target.query) == (path, query)


@pytest.mark.parametrize("query", ["x=%", "x=%2", "x=%zz", "%gg=1", "x=1;y=2", ";"])
def test_leaves_out_parameters_that_cannot_be_decoded(query: str) -> None:
    assert urls.parse_query(f"{query}&good=1") == {"good": ["1"]}


@pytest.mark.parametrize("raw", ["/a%zz", "/%", "/%2", "*", "host:443", "ftp://host/a", "http://[::1/a", ""])
def test_refuses_targets_that_are_none(raw: str) -> None:
    with pytest.raises(urls.MalformedTarget):
        urls.parse(raw)


@given(st.text())
def test_no_target_does_more_than_be_refused(raw: str) -> None:
    try:
        target = urls.parse(raw)
    except urls.MalformedTarget:
        return
    target.path.encode()
