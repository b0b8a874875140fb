"""The reading door: a store's versions, and one tenant's memory at one of them.

The command line, serve and notebooks use it:

store = open_store("./memory")
memory = store.memory("default")
memory.search("mira", "when does the flight leave?").rounds
"""

from operators.memory.stores import CACHE_BYTES, AsOf, Store, UserMemory, open_store
from operators.memory.tenant import Memory
from operators.memory.written import read_value

__all__ = ["CACHE_BYTES", "AsOf", "Memory", "Store", "UserMemory", "open_store", "read_value"]
