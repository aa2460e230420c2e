"""Official client: a controller with the client `kubernetes`, and its tests."""
