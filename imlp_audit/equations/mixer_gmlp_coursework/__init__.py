"""What the coursework on MLP-Mixer and gMLP (Moscow State University, 2022) claims."""
