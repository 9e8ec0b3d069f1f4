"""Black boxes of the user's own: functions and programs."""
