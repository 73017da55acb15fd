"""Files become documents, queries and labels; importers bring in known collections."""
