"""Values and tools that know nothing of optimisation: types, sets, units, random streams, the registry."""
