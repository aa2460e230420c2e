"""Policies: the admission plugins ValidatingAdmissionPolicy and MutatingAdmissionPolicy, whose CEL expressions users
write.

A policy has the expressions. Its bindings choose the resources and the parameters.
"""
