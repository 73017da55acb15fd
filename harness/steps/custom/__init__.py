"""Steps of the user's own, code or a service; answers are checked."""
