"""The formats of an audit's result for other programs: each file turns a result into one of them. Pure."""
