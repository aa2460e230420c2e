"""Workers: --workers N, several processes that serve one port and share one store, and the supervisor that runs them.

    launching.py    turns the process of the command line into the supervisor
    supervisor.py   starts the workers, replaces those that end, and passes signals on
    slots.py        what the supervisor and a worker have to know
    siblings.py     questions to the other workers: health, metrics

The main function of a worker is in ../worker.py. The first worker owns an embedded store and serves it to the others
(storage/kv/unix). It alone runs controllers, compaction, and the upkeep of kube-apiserver's own objects.
"""
