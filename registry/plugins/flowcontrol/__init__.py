"""API priority and fairness: who is served when not everybody can be."""
