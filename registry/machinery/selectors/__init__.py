"""Label and field selectors: from the text of a query to the predicate that storage matches with."""
