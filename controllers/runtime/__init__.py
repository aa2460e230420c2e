"""Runtime: the common parts of controllers, as in controller-runtime: client, informers, work queue, leases."""
