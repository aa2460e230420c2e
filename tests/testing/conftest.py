from tests.apiserver.bench_servers import client, server, shared

__all__ = ["client", "server", "shared"]
