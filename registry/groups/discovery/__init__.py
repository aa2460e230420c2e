"""discovery: EndpointSlices."""
