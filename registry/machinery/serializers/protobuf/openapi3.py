"""openapi3: OpenAPI v3 documents in protobuf: gnostic's openapi.v3 messages, as far as this server needs them.

Pure tables. Must hold: all parts of this server's documents have fields. Numbers are those of the published .proto
file.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.machinery.serializers.protobuf.document_fields import (
    Message,
    anything,
    double,
    entries,
    flag,
    integer,
    part,
    parts,
    text,
    texts,
    within,
)

_document, _info, _components, _path_item = Message(9), Message(7), Message(10), Message(14)
_operation, _schema, _parameter, _body = Message(13), Message(36), Message(14), Message(4)
_response, _media_type, _security, _external_docs = Message(5), Message(5), Message(9), Message(3)
_reference = Message()


def dump(document: Mapping[str, Any]) -> bytes:
    """The message of a document."""
    return _document(document)


def _schema_or_reference(value: Mapping[str, Any]) -> bytes:
    return _refers(value) if "$ref" in value else _tells(value)


def _additional(value: Any) -> bytes:
    return _additional_flag({"boolean": value}) if isinstance(value, bool) else _additional_schema(value)


def _default(value: Any) -> bytes:
    """A default: only bools, texts and numbers have fields; objects and lists are written without a value."""
    if isinstance(value, bool):
        return _default_value({"boolean": value})
    if isinstance(value, str):
        return _default_value({"string": value})
    return _default_value({"number": value}) if isinstance(value, int | float) else b""


_refers = within(2, _reference)
_tells = within(1, _schema)
_additional_flag = Message()
_additional_flag.define(boolean=flag(2))
_additional_schema = within(1, _schema_or_reference)
_default_value = Message()
_default_value.define(number=double(1), boolean=flag(2), string=text(3))
_content = entries(1, _media_type)

_document.define(
    openapi=text(1),
    info=part(2, _info),
    paths=part(4, entries(1, _path_item)),
    components=part(5, _components),
)
_info.define(title=text(1), version=text(6))
_components.define(
    schemas=part(1, entries(1, _schema_or_reference)),
    securitySchemes=part(7, entries(1, within(1, _security))),
)
_security.define(type=text(1), description=text(2), name=text(3), **{"in": text(4)})
_path_item.define(
    get=part(4, _operation),
    put=part(5, _operation),
    post=part(6, _operation),
    delete=part(7, _operation),
    options=part(8, _operation),
    head=part(9, _operation),
    patch=part(10, _operation),
    parameters=parts(13, within(1, _parameter)),
)
_operation.define(
    tags=texts(1),
    description=text(3),
    operationId=text(5),
    parameters=parts(6, within(1, _parameter)),
    requestBody=part(7, within(1, _body)),
    responses=part(8, entries(2, within(1, _response))),
)
_parameter.define(
    name=text(1), **{"in": text(2)}, description=text(3), required=flag(4), schema=part(10, _schema_or_reference)
)
_body.define(description=text(1), content=part(2, _content), required=flag(3))
_response.define(description=text(1), content=part(3, _content))
_media_type.define(schema=part(1, _schema_or_reference))
_reference.define(_ref=text(1))
_external_docs.define(description=text(1), url=text(2))
_schema.define(
    nullable=flag(1),
    externalDocs=part(6, _external_docs),
    example=part(7, anything),
    title=text(9),
    multipleOf=double(10),
    maximum=double(11),
    exclusiveMaximum=flag(12),
    minimum=double(13),
    exclusiveMinimum=flag(14),
    maxLength=integer(15),
    minLength=integer(16),
    pattern=text(17),
    maxItems=integer(18),
    minItems=integer(19),
    uniqueItems=flag(20),
    maxProperties=integer(21),
    minProperties=integer(22),
    required=texts(23),
    enum=parts(24, anything),
    type=text(25),
    allOf=parts(26, _schema_or_reference),
    oneOf=parts(27, _schema_or_reference),
    anyOf=parts(28, _schema_or_reference),
    items=part(30, within(1, _schema_or_reference)),
    properties=part(31, entries(1, _schema_or_reference)),
    additionalProperties=part(32, _additional),
    default=part(33, _default),
    description=text(34),
    format=text(35),
    **{"not": part(29, _schema)},
)
