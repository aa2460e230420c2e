"""readable_pages: reads a Kubernetes list in pages, past the objects that cannot be read, and names those.

A list fails as a whole when one of its objects is corrupt. A report or a check wants the others.

Must hold: a page gives way to requests before the next one. The pages need not be of one revision.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence

from aio_apiserver.storage.errors import Corrupt, CorruptObjects
from aio_apiserver.storage.interface import ListOptions, Reader
from aio_apiserver.storage.store import continue_token
from aio_apiserver.storage.stored_object import StoredObject

PAGE = 500


async def readable_pages(
    storage: Reader, unreadable: set[str], page_size: int = PAGE
) -> AsyncIterator[Sequence[StoredObject]]:
    """All objects of a namespaced resource, but the corrupt ones, whose namespaces and names `unreadable` gets.

    A page with a corrupt object is read again in smaller pages, until the object stands alone and can be passed.
    An object that is not decoded yet may still raise Corrupt at its first use.
    """
    token, limit, is_last = "", page_size, False
    while not is_last:
        try:
            page = await storage.get_list("", ListOptions(limit=limit, continue_token=token))
        except CorruptObjects as exc:
            if limit > 1:
                limit //= 2
                continue
            unreadable.update(map(place_of, exc.found))
            token = continue_token.after(place_of(exc.found[-1]), continue_token.PRESENT)
        else:
            yield page.items
            token, is_last = page.continue_token, not page.continue_token
        limit = min(2 * limit, page_size)
        await asyncio.sleep(0)


def place_of(exc: Corrupt) -> str:
    """The namespace and the name. The key of an object that cannot be decrypted begins with the prefix of the store."""
    return "/".join(exc.key.split("/")[-2:])
