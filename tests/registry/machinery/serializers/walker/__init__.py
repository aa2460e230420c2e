"""The plain walker of protobuf messages: slow, and short enough to be believed; generated code must agree with it."""
