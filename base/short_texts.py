"""Short texts: texts of clients in what the server keeps after a request has ended.

A record has the beginning of a text (`cut`). A map by user, by token or by path has the text as its key while it is
short, else a digest (`key_of`).

Must hold: a short text does not keep the whole text in memory. Different texts have different keys.
"""

import hashlib

CUT = "…"
"""The end of a text that was cut."""
LONGEST_KEY = 256
_DIGEST_PREFIX = "\0sha256:"
"""No text of a client begins so: HTTP and certificates refuse the first letter."""


def cut(text: str, most: int) -> str:
    """The beginning of a text, as valid UTF-8."""
    short = text if len(text) <= most else f"{text[:most]}{CUT}"
    return short if short.isascii() else short.encode(errors="replace").decode()


def key_of(text: str) -> str:
    """The key for a text."""
    if len(text) <= LONGEST_KEY:
        return text
    return _DIGEST_PREFIX + hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
