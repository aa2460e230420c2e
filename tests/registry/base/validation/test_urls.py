"""URLs are read as Go reads them."""

import pytest

from aio_apiserver.registry.base.validation import urls
from aio_apiserver.registry.base.validation.urls import Url, UrlError


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://example.com/x", Url("https", None, "example.com")),
        ("HTTPS://u:p@[::1]:443/x?q=1#f", Url("https", "u:p", "[::1]:443", "q=1", "f")),
        ("example.com/x", Url()),
        ("mailto:a@b", Url("mailto")),
        ("", Url()),
    ],
)
def test_a_url_has_parts(text: str, url: Url) -> None:
    assert urls.parse(text) == url


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("://x", 'parse "://x": missing protocol scheme'),
        ("1:x", 'parse "1:x": first path segment in URL cannot contain colon'),
        ("https://x:y/", 'parse "https://x:y/": invalid port ":y" after host'),
        ("https://x/%zz", 'parse "https://x/%zz": invalid URL escape "%zz"'),
        ("https://[::1/", "parse \"https://[::1/\": missing ']' in host"),
        ("https://a b/", 'parse "https://a b/": invalid character " " in host name'),
        ("https://x/\n", 'parse "https://x/\\n": net/url: invalid control character in URL'),
    ],
)
def test_what_is_no_url_is_told_why(text: str, why: str) -> None:
    with pytest.raises(UrlError) as caught:
        urls.parse(text)

    assert str(caught.value) == why
