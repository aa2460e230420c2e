from tests.apiserver.bench_servers import client, server, shared
from tests.testing.bench.simulated_clusters import admin, cluster, shared_cluster

__all__ = ["admin", "client", "cluster", "server", "shared", "shared_cluster"]
