"""Computing a user's values: functions in this process, in worker processes, or by another program."""
