"""What a paper prints: reads specs, and plans the checks from them alone."""
