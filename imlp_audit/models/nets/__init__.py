"""The torch modules of the hosts: each is built by the record of the same name in `models.hosts`."""
