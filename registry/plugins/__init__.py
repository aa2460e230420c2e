"""Plugins: the parts that know both kinds and mechanisms: admission, authentication, authorization, quota, flow
control.
"""
