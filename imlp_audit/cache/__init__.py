"""What earlier runs measured, kept in files: an audit that finds its models there counts nothing."""
