"""libraries: the CEL libraries of every environment of Kubernetes, in their order."""

from aio_apiserver.registry.generic.expressions import authorization
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.libraries import PURE

BASE: tuple[Library, ...] = (*PURE, authorization.LIBRARY)
