"""What a paper prints: reading specs, and telling from them alone which checks there are."""
