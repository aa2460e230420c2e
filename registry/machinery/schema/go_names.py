"""go_names: the Go types of values for kube-apiserver's decoding errors, such as `of type v1.PullPolicy`.

OpenAPI knows the structs and calls every named string a string. wire.json has the names that OpenAPI does not tell.
"""

RESOURCE_LIST = "v1.ResourceList"


def element_type(go_type: str) -> str:
    """The type of the elements of a list or a map (`[]v1.Capability`, `map[string]v1.ExtraValue`); empty when its name
    does not tell.
    """
    if go_type.startswith("[]"):
        return go_type.removeprefix("[]")
    return go_type.partition("]")[2] if go_type.startswith("map[") else ""


def struct_type(definition: str) -> str:
    """The type of a definition."""
    return ".".join(definition.rsplit(".", 2)[-2:])
