"""Services: Services and Endpoints, with the allocation of addresses and ports."""
