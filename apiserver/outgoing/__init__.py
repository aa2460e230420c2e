"""Outgoing: connections to webhooks, issuers, components, kubelets, pods, services and aggregated servers.

Storage has its own connections.
"""
