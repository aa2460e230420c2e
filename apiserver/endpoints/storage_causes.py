"""storage_causes: what an operator can do about a store that cannot be used, by the words of its error.

Pure. Must hold: a cause names flags and no address, since anonymous clients may read /readyz.
"""

_CAUSES = (
    (
        "NOSPACE of the embedded store",
        "the store has reached --store-quota-bytes (NOSPACE): delete objects, or start with a larger quota",
    ),
    (
        "NOSPACE",
        "the database is full (NOSPACE): compact and defragment the etcd of --etcd-servers, and disarm its alarm",
    ),
    ("little room left", "the disk of --data-dir is nearly full: free some space, or run apiserver compact"),
    ("no room left", "the disk of --data-dir is full: free some space, or run apiserver compact"),
    ("readonly database", "the file system of --data-dir is read-only"),
    ("CERTIFICATE_VERIFY_FAILED", "--etcd-cafile does not trust the certificate of the server"),
    ("_ALERT_", "the server does not accept the client certificate of --etcd-certfile"),
    ("asks for a user", "the server wants a user: give one the common name of the certificate of --etcd-certfile"),
    ("permission denied", "the user of the certificate of --etcd-certfile may not use --etcd-prefix"),
    ("does not speak HTTP/2", "--etcd-servers names a server that is no etcd"),
    ("the server has closed it", "--etcd-servers names a server that is no etcd, or that wants https"),
    ("before the TLS handshake", "--etcd-servers names a server that is no etcd, or that wants http"),
    ("WRONG_VERSION_NUMBER", "--etcd-servers names a server that is no etcd, or that wants http"),
    ("the host has no address", "--etcd-servers names a host that has no address"),
    ("no answer in time", "the server that --etcd-servers names does not answer in time"),
    ("gone silent", "the server that --etcd-servers names does not answer in time"),
    ("Deadline Exceeded", "the server that --etcd-servers names does not answer in time"),
    ("Connection refused", "no server listens at the address of --etcd-servers"),
)


def cause_of(reason: str) -> str:
    """The cause behind the reason of a failed health check, or behind its warning; empty when it is not known."""
    return next((cause for words, cause in _CAUSES if words in reason), "")


def explained(reason: str) -> str:
    """The reason with its cause."""
    cause = cause_of(reason)
    return f"{reason} ({cause})" if cause else reason
