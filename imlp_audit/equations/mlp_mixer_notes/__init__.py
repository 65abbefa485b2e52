"""What the notes on MLP-Mixer claim."""
