"""Images and their labels, from wherever they lie: folders, .tar files, the hub, torchvision."""
