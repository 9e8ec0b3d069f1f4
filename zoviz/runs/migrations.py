"""From an older version of a store's tables to the next, one function a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlalchemy import Connection

MIGRATIONS: Mapping[int, Callable[[Connection], None]] = MappingProxyType({})
"""``MIGRATIONS[v]`` changes tables of version v into those of v + 1, within one transaction with the others. To change
the tables: change ``tables.py``, raise its VERSION, and add the step here."""
