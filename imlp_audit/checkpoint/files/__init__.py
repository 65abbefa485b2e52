"""The files that weights come in, read byte by byte: what they claim to hold, compared with what they have."""
