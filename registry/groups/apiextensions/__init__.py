"""apiextensions.k8s.io and what it defines: custom resources."""
