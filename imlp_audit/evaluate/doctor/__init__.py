"""Finding out what is wrong with a folder of ImageNet-1k's validation images."""
