"""The feeder of the tests of load tracking with AC power flow."""

from __future__ import annotations

LOADS, BUSES = 84, 141
