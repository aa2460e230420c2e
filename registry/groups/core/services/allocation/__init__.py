"""Allocation: the cluster IPs and node ports of services, each given to one service at a time.

Several servers can share one store. An address is an IPAddress object, which one server alone can create. Node ports
are bits of one object, which servers change by compare-and-set.
"""
