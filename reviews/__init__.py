"""Everything with a database, a person or a request."""
