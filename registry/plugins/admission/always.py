"""Always: the admission plugins AlwaysAdmit and AlwaysDeny, for tests of clients."""

from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Plugin


class AlwaysAdmit(Plugin):
    """Admits every write, as its base class does."""

    name = "AlwaysAdmit"


class AlwaysDeny(Plugin):
    """Refuses every write."""

    name = "AlwaysDeny"

    async def mutate(self, attributes: Attributes) -> None:
        raise refusals.forbidden(attributes, "admission control is denying all modifications")

    async def validate(self, attributes: Attributes) -> None:
        raise refusals.forbidden(attributes, "admission control is denying all modifications")
