"""Wire: HTTP as clients see it: sockets, connections, request heads, bodies, queries, responses, watch streams.

It must not know handlers, filters or kinds of objects.
"""
