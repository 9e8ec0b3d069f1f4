"""The dashboard: its composition, its server, and the settings of a process that serves it."""
