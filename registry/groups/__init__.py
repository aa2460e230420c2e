"""Groups: the API groups, one package each, with their kinds, rules and subresources.

It must not know plugins, controllers or HTTP.
"""
