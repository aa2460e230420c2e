"""Token file: the bearer tokens and users in the file of --token-auth-file.

    token,user,uid,"group1,group2"

Pure. Must hold: no error message contains a token.
"""

import csv
import logging
from collections.abc import Mapping

from aio_apiserver.registry.generic.access.users import UserInfo, authenticated

logger = logging.getLogger(__name__)

_LEAST_COLUMNS = 3


def parse(text: str, source: str) -> Mapping[str, UserInfo]:
    """Users by token. Raises ValueError with the name of the source."""
    users: dict[str, UserInfo] = {}
    for number, record in enumerate(_records(text, source), start=1):
        if len(record) < _LEAST_COLUMNS:
            columns = f"at least {_LEAST_COLUMNS} columns (token, user name, user uid), found {len(record)}"
            raise ValueError(f"token file '{source}' must have {columns}")
        token, name, uid, *rest = record
        if not token:
            logger.warning("empty token has been found in token file '%s', record number '%d'", source, number)
            continue
        if token in users:
            logger.warning("duplicate token has been found in token file '%s', record number '%d'", source, number)
        groups = tuple(rest[0].split(",")) if rest else ()
        users[token] = authenticated(UserInfo(name=name, uid=uid, groups=groups))
    return users


def _records(text: str, source: str) -> list[list[str]]:
    try:
        return [record for record in csv.reader(text.splitlines(), strict=True) if record]
    except csv.Error as exc:
        raise ValueError(f"token file '{source}': {exc}") from exc
