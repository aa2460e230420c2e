from tests.apiserver.bench_servers import client, server

__all__ = ["client", "server"]
