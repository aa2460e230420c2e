"""runtime: what every controller stands on, as upstream's controller-runtime: client, informers, work queue, leases."""
