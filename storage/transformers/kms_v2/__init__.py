"""KMS v2: data keys that a plugin encrypts, reached over gRPC on a unix socket."""
