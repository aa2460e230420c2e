from aio_apiserver.registry.machinery.serializers.protobuf import openapi3, swagger
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import LENGTH, delimited, tag


def field(number: int, content: bytes) -> bytes:
    return tag(number, LENGTH) + delimited(content)


def test_a_version_2_document_is_made_of_its_parts() -> None:
    document = {"swagger": "2.0", "info": {"title": "Kubernetes", "version": "1.36"}}

    message = swagger.dump(document)

    assert message == field(1, b"2.0") + field(2, field(1, b"Kubernetes") + field(2, b"1.36"))


def test_paths_and_definitions_are_named_entries() -> None:
    document = {"paths": {"/a": {}}, "definitions": {"A": {"description": "x"}}}

    message = swagger.dump(document)

    path = field(8, field(2, field(1, b"/a") + field(2, b"")))
    definition = field(9, field(1, field(1, b"A") + field(2, field(4, b"x"))))
    assert message == path + definition


def test_parameters_are_told_by_where_they_are() -> None:
    parameters = {"a": {"in": "path"}, "b": {"in": "query"}, "c": {"in": "body"}}

    message = swagger.dump({"parameters": parameters})

    entries = (
        field(1, b"a") + field(2, field(2, field(4, field(2, b"path")))),
        field(1, b"b") + field(2, field(2, field(3, field(2, b"query")))),
        field(1, b"c") + field(2, field(1, field(3, b"body"))),
    )
    assert message == field(10, b"".join(field(1, entry) for entry in entries))


def test_extensions_are_yaml() -> None:
    message = openapi3.dump({"components": {"schemas": {"A": {"x-kubernetes-list-type": "map"}}}})

    extension = field(36, field(1, b"x-kubernetes-list-type") + field(2, field(2, b'"map"\n')))
    assert message == field(5, field(1, field(1, field(1, b"A") + field(2, field(1, extension)))))


def test_defaults_that_are_objects_have_no_value() -> None:
    message = openapi3.dump({"components": {"schemas": {"A": {"default": {}}}}})

    assert message == field(5, field(1, field(1, field(1, b"A") + field(2, field(1, field(33, b""))))))
