"""The Cacher: a resource's present state and recent events in memory, fed by a reflector, fanned out to watchers."""
