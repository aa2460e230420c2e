"""Swagger: OpenAPI v2 documents in protobuf: gnostic's openapi.v2 messages, as far as this server needs them.

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

_document, _info, _path_item, _operation = Message(16), Message(7), Message(10), Message(13)
_schema, _body, _query, _path = Message(31), Message(6), Message(23), Message(22)
_response, _security, _external_docs, _reference = Message(5), Message(5), Message(3), Message()


def dump(document: Mapping[str, Any]) -> bytes:
    """The message of a document."""
    return _document(document)


def _type(value: Any) -> bytes:
    return _types({"value": [value] if isinstance(value, str) else value})


def _additional(value: Any) -> bytes:
    return _additional_flag({"boolean": value}) if isinstance(value, bool) else _additional_schema(value)


def _parameter(value: Mapping[str, Any]) -> bytes:
    if value["in"] == "body":
        return _body_parameter(value)
    return _path_parameter(value) if value["in"] == "path" else _query_parameter(value)


def _parameter_or_reference(value: Mapping[str, Any]) -> bytes:
    return _refers(value) if "$ref" in value else _tells(value)


_types = Message()
_types.define(value=texts(1))
_additional_flag = Message()
_additional_flag.define(boolean=flag(2))
_additional_schema = within(1, _schema)
_strings = Message()
_strings.define(value=texts(1))

_body_parameter = within(1, _body)
_query_parameter = within(2, within(3, _query))
_path_parameter = within(2, within(4, _path))
_tells = within(1, _parameter)
_refers = within(2, _reference)

_document.define(
    swagger=text(1),
    info=part(2, _info),
    paths=part(8, entries(2, _path_item)),
    definitions=part(9, entries(1, _schema)),
    parameters=part(10, entries(1, _parameter)),
    security=parts(12, entries(1, lambda scopes: _strings({"value": scopes}))),
    securityDefinitions=part(13, entries(1, within(2, _security))),
)
_info.define(title=text(1), version=text(2))
_security.define(type=text(1), name=text(2), **{"in": text(3)}, description=text(4))
_path_item.define(
    get=part(2, _operation),
    put=part(3, _operation),
    post=part(4, _operation),
    delete=part(5, _operation),
    options=part(6, _operation),
    head=part(7, _operation),
    patch=part(8, _operation),
    parameters=parts(9, _parameter_or_reference),
)
_operation.define(
    tags=texts(1),
    description=text(3),
    operationId=text(5),
    produces=texts(6),
    consumes=texts(7),
    parameters=parts(8, _parameter_or_reference),
    responses=part(9, entries(1, within(1, _response))),
    schemes=texts(10),
)
_response.define(description=text(1), schema=part(2, within(1, _schema)))
_reference.define(_ref=text(1))
_body.define(description=text(1), name=text(2), **{"in": text(3)}, required=flag(4), schema=part(5, _schema))
_query.define(
    required=flag(1), **{"in": text(2)}, description=text(3), name=text(4), type=text(6), uniqueItems=flag(20)
)
_path.define(required=flag(1), **{"in": text(2)}, description=text(3), name=text(4), type=text(5), uniqueItems=flag(19))
_external_docs.define(description=text(1), url=text(2))
_schema.define(
    _ref=text(1),
    format=text(2),
    title=text(3),
    description=text(4),
    default=part(5, anything),
    multipleOf=double(6),
    maximum=double(7),
    exclusiveMaximum=flag(8),
    minimum=double(9),
    exclusiveMinimum=flag(10),
    maxLength=integer(11),
    minLength=integer(12),
    pattern=text(13),
    maxItems=integer(14),
    minItems=integer(15),
    uniqueItems=flag(16),
    maxProperties=integer(17),
    minProperties=integer(18),
    required=texts(19),
    enum=parts(20, anything),
    additionalProperties=part(21, _additional),
    type=part(22, _type),
    items=part(23, within(1, _schema)),
    allOf=parts(24, _schema),
    properties=part(25, entries(1, _schema)),
    externalDocs=part(29, _external_docs),
    example=part(30, anything),
)
