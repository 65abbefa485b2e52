"""Every number that a document prints, held against the specs."""
