"""The dashboard: composition, run controller, server."""
