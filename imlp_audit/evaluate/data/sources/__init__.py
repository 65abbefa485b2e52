"""Where images come from when they are not in class folders: archives, parquet, the hub, torchvision."""
