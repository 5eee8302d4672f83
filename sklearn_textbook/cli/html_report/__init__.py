"""The report of a fit: a page of HTML that needs no other file and no network."""
