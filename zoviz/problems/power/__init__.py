"""Power-system problems: load tracking with a linear and with a full power flow."""
