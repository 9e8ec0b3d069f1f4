"""Problems of the user's own: functions and programs."""
