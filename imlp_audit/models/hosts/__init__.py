"""What a recipe says of the models that are built here, a family a file. Torch-free, so that specs can hold them."""
