"""aetcd_rpc: stands for aetcd's folder of generated modules with etcd's messages, which are imported as parts of it.

    import aio_apiserver.storage.kv.etcd.aetcd_rpc.rpc_pb2 as rpc

aetcd as a whole imports the library grpc, which takes 9 MB of memory and 50 ms of a start. No call goes through it.
Must hold: only modules of messages are imported so, as those of stubs import grpc.
"""

from importlib.util import find_spec

_aetcd = find_spec("aetcd")
assert _aetcd is not None
__path__ = [f"{folder}/rpc" for folder in _aetcd.submodule_search_locations or ()]
