"""console: the web console at /ui: its assets, its sessions, and its endpoints below /ui/api/.

In the browser it is a client like others: it uses the normal API with the rights of its user. A server without --ui
does not import this package.
"""
