"""expressions: the CEL environments of admission, and the CEL library that asks an authorizer."""
