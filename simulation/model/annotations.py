"""Annotations: the common form of the annotations that direct a simulated cluster.

Pure. They have the prefix `simulate.aio-apiserver/`. Times are durations as Go writes them, such as 3s.
"""

from aio_apiserver.registry.base.golang import durations
from aio_apiserver.registry.plugins.simulation.annotations import PREFIX as PREFIX


def duration(text: str) -> float:
    """A duration in seconds. Missing and invalid ones are 0."""
    try:
        return durations.parse(text) if text else 0.0
    except ValueError:
        return 0.0
