"""Signers: the names of signers, and the check whether a user may approve or sign for one."""

from collections.abc import Callable

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1123_LABEL, DNS1123_SUBDOMAIN
from aio_apiserver.registry.generic.access.authorizer import Attributes, Authorizer
from aio_apiserver.registry.generic.access.users import UserInfo

LEGACY_UNKNOWN = "kubernetes.io/legacy-unknown"
API_SERVER_CLIENT = "kubernetes.io/kube-apiserver-client"

_LONGEST_DOMAIN = 253
_LONGEST = _LONGEST_DOMAIN + 253 + 63 + 2


def validate(name: str, path: str) -> list[FieldError]:
    """The errors of a signer name: `example.com/signer-name`."""
    if not name:
        return [field.required(path)]
    if name.count("/") != 1:
        why = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        return [field.invalid(path, name, why)]
    domain, _, rest = name.partition("/")
    errors = []
    if len(domain.encode()) > _LONGEST_DOMAIN:
        errors.append(field.too_long(path, _LONGEST_DOMAIN))
    errors += _validate_parts(domain, DNS1123_LABEL.check, path)
    if "." not in domain:
        errors.append(field.invalid(path, domain, "should be a domain with at least two segments separated by dots"))
    errors += _validate_parts(rest, DNS1123_SUBDOMAIN.check, path)
    return [*errors, field.too_long(path, _LONGEST)] if len(name.encode()) > _LONGEST else errors


def _validate_parts(value: str, check: Callable[[str], list[str]], path: str) -> list[FieldError]:
    """The errors of the first invalid part."""
    for part in value.split("."):
        if messages := check(part):
            return [field.invalid(path, value, f"validating label {quote(part)}: {text}") for text in messages]
    return []


async def may(authorizer: Authorizer, user: UserInfo, verb: str, signer: str) -> bool:
    """Whether the user may do this for the signer, or for all signers of its domain."""
    for name in (signer, f"{signer.partition('/')[0]}/*"):
        attributes = Attributes(
            user=user, verb=verb, name=name, group="certificates.k8s.io", version="*", resource="signers"
        )
        if (await authorizer.authorize(attributes)).is_allowed:
            return True
    return False
