"""What services are given out of a limited stock: cluster IPs and node ports, each to one service at a time.

Safe with several servers on one store: an address is an IPAddress object, which only one of them can create; node
ports are bits of one object that is only ever changed by compare-and-set.
"""
