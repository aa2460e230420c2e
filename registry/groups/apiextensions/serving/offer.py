"""Offer: the REST storage of one CustomResourceDefinition, for each version and path, as routing and discovery see it.

It must not know how an offer is made: that is in offers.py, which loads at the first definition.
"""

from collections.abc import Mapping

from msgspec import Struct

from aio_apiserver.registry.generic.rest import RESTStorage
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.apiextensions.definitions.definition import Definition


class Offer(Struct, frozen=True):
    """`versions` are the served versions, the preferred one first. Discovery shows an offer when its definition is
    established.
    """

    definition: Definition
    versions: Mapping[str, Mapping[str, RESTStorage]]
    stores: Mapping[str, Store]
    """The Stores by version, including the storage version."""

    @property
    def is_told(self) -> bool:
        return self.definition.is_established
