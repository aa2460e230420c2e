"""parts: Rules for parts of core objects that several kinds share. Knows no kind."""
