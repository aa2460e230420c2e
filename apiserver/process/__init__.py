"""process: what one server process sets up for itself: its loop, its imports, its heap and the errors of its start."""
