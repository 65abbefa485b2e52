"""The figures of a report: for each kind its data, where a result has them, and how they are drawn."""
