"""The hosts of recipes, a family of models in each file. Torch-free, so that specs can hold them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules

from imlp_audit.models.hosts.host import Host, Stack


@cache
def find_hosts() -> Mapping[str, type[Host]]:
    """Return the hosts that this folder defines, by their keys in a recipe. Raises TypeError for an unfinished one."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    hosts = [
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Host) and one not in (Host, Stack)
        if one.__module__ == module.__name__
    ]
    found: dict[str, type[Host]] = {}
    for host in hosts:
        lacking = sorted(getattr(host, "__abstractmethods__", ()))
        if isabstract(host) or not getattr(host, "__final__", False):
            raise TypeError(f"the host {host.__name__} lacks {', '.join(lacking) or '@final'}")
        key = host.traits().key
        if key in found:
            raise TypeError(f"the hosts {found[key].__name__} and {host.__name__} have the same key, {key!r}")
        found[key] = host
    return dict(sorted(found.items(), key=lambda item: (item[0] != "timm", item[0])))
