"""Power systems: load tracking on linearised and full power flow."""
