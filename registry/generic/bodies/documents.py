"""documents: YAML that a client sends, read without holding up the event loop."""

import asyncio

from aio_apiserver.registry.machinery.serializers import yaml

_THREAD_FROM_BYTES = 16 * 1024


async def read(text: bytes) -> "yaml.YamlDocument":
    """The first document of a text. Raises ValueError."""
    return yaml.read(text) if len(text) < _THREAD_FROM_BYTES else await asyncio.to_thread(yaml.read, text)
