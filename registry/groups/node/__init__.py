"""node: RuntimeClasses."""
