"""The messages of cel.expr in which the parser hands over a tree: as far as they are read here, as a table."""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto
_TYPES = {
    "int64": _Field.TYPE_INT64,
    "int32": _Field.TYPE_INT32,
    "uint64": _Field.TYPE_UINT64,
    "double": _Field.TYPE_DOUBLE,
    "bool": _Field.TYPE_BOOL,
    "string": _Field.TYPE_STRING,
    "bytes": _Field.TYPE_BYTES,
}

# Message: fields as "name number type", `*` for repeated ones; those behind "oneof" exclude each other.
_MESSAGES = {
    "Envelope": "value 2 ParsedExpr",
    "ParsedExpr": "expr 2 Expr, source_info 3 SourceInfo",
    "SourceInfo": "positions* 4 Position",
    "Position": "key 1 int64, value 2 int32",
    "Expr": (
        "id 2 int64, oneof expr_kind, const_expr 3 Constant, ident_expr 4 Ident, select_expr 5 Select, "
        "call_expr 6 Call, list_expr 7 CreateList, struct_expr 8 CreateStruct, comprehension_expr 9 Comprehension"
    ),
    "Constant": (
        "oneof constant_kind, null_value 1 int32, bool_value 2 bool, int64_value 3 int64, uint64_value 4 uint64, "
        "double_value 5 double, string_value 6 string, bytes_value 7 bytes"
    ),
    "Ident": "name 1 string",
    "Select": "operand 1 Expr, field 2 string, test_only 3 bool",
    "Call": "target 1 Expr, function 2 string, args* 3 Expr",
    "CreateList": "elements* 1 Expr, optional_indices* 2 int32",
    "CreateStruct": "message_name 1 string, entries* 2 Entry",
    "Entry": "id 1 int64, value 4 Expr, optional_entry 5 bool, oneof key_kind, field_key 2 string, map_key 3 Expr",
    "Comprehension": (
        "iter_var 1 string, iter_range 2 Expr, accu_var 3 string, accu_init 4 Expr, loop_condition 5 Expr, "
        "loop_step 6 Expr, result 7 Expr, iter_var2 8 string"
    ),
}
_FILE = "registry/cel/expr.proto"
_PACKAGE = "tree"


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name=_FILE, package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field in fields.split(", "):
            _add(message, field.split())
    _mark_map(file)
    return file


def _add(message: descriptor_pb2.DescriptorProto, words: list[str]) -> None:
    if words[0] == "oneof":
        message.oneof_decl.add(name=words[1])
        return
    name, number, kind = words
    field = message.field.add(name=name.rstrip("*"), number=int(number))
    field.label = _Field.LABEL_REPEATED if name.endswith("*") else _Field.LABEL_OPTIONAL
    if kind in _TYPES:
        field.type = _TYPES[kind]
    else:
        field.type, field.type_name = _Field.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
    if message.oneof_decl:
        field.oneof_index = 0


def _mark_map(file: descriptor_pb2.FileDescriptorProto) -> None:
    """`positions` is a map: its entries are nested in the message that has it."""
    [info] = [message for message in file.message_type if message.name == "SourceInfo"]
    [entry] = [message for message in file.message_type if message.name == "Position"]
    nested = info.nested_type.add()
    nested.CopyFrom(entry)
    nested.name = "PositionsEntry"
    nested.options.map_entry = True
    info.field[0].type_name = f".{_PACKAGE}.SourceInfo.PositionsEntry"
    file.message_type.remove(entry)


def _class(name: str) -> Any:
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


Envelope = _class("Envelope")
"""google.protobuf.Any around cel.expr.ParsedExpr."""
