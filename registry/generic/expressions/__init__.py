"""The CEL environments of admission, and the library that asks an authorizer."""
