"""golang: reads the declarations of Go source files. It knows no Kubernetes."""
