"""Containers: the programs of simulated containers: a small shell, the commands that it knows, and files in memory."""
