"""Controllers: what a cluster does by itself, in the server's process, as far as --controllers and --simulate say.

Optional: a server without them imports nothing of this but the names. One file a controller; what they share is in
catalog, client, informers, work_queue, controller, election and manager.
"""
