"""Kubeconfig: the kubeconfig file with the administrator's credentials for this server.

It is a file of its own, with mode 0600. ~/.kube/config is not changed.
"""

import base64
from pathlib import Path

from aio_apiserver.apiserver.tls.certificates import Pki
from aio_apiserver.base import private_files

_TEMPLATE = """\
apiVersion: v1
kind: Config
clusters:
- name: aio-apiserver
  cluster:
    server: {server}
    certificate-authority-data: {ca}
users:
- name: admin
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
contexts:
- name: aio-apiserver
  context:
    cluster: aio-apiserver
    user: admin
current-context: aio-apiserver
"""


def write(path: Path, server: str, pki: Pki, *, authority: Path) -> None:
    """Write the file, if it has changed. `authority` is the certificate with which clients verify the server."""
    content = _TEMPLATE.format(
        server=server,
        ca=_encoded(authority),
        certificate=_encoded(pki.admin.certificate),
        key=_encoded(pki.admin.key),
    )
    private_files.put_changed(path, content.encode())


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
