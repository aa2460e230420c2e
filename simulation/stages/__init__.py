"""Stages: kwok's Stage objects, which say how objects of any kind move on in a simulated cluster."""
