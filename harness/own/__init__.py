"""Steps of the user's own: functions found by name, and services asked over HTTP."""
