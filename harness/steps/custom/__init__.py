"""User-defined steps: functions found by name, and services called over HTTP."""
