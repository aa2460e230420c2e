"""Admission policies: rules in CEL that users state, which refuse writes or change them.

A policy says what (ValidatingAdmissionPolicy, MutatingAdmissionPolicy), its bindings say where and with which
parameters.
"""
