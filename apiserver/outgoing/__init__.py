"""Outgoing: connections from this server to webhooks, issuers, components, kubelets, pods and services.

Storage and aggregated servers have their own connections.
"""
