from tests.apiserver.bench.simulated_clusters import admin, cluster, shared_cluster
from tests.apiserver.bench_servers import client, server, shared

__all__ = ["admin", "client", "cluster", "server", "shared", "shared_cluster"]
