"""Decisions: the pure functions of controllers, from present objects to wanted objects. The loops are in the parent
folder.
"""
