"""The plain walker of protobuf messages: slow, but short enough to check by reading. Generated code must agree."""
