"""expressions: the CEL environments of admission, and the CEL library for authorization checks."""
