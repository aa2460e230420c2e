"""KMS v2: data keys encrypted by a KMS plugin, over gRPC on a unix socket."""
