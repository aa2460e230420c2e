"""timeline: the recent history of a server: requests of clients, and changes of objects with their field managers.

Requests are recorded while the console is on. Changes are read from the windows of the watch caches when a client
asks. It must not know pages.
"""
