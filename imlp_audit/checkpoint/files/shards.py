"""Weights in several files, and the index that says which file holds which tensor."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from imlp_audit.checkpoint.files.foreign import INDEX
from imlp_audit.checkpoint.files.sources import Content
from imlp_audit.checkpoint.refusal import RefusedError, escape_name, list_names
from imlp_audit.checkpoint.tensors import MOST_TENSORS, StorageSpan, TensorInfo

LARGEST_INDEX = 4 << 20
_MOST_SHARDS = 1000
_SHARD = re.compile(r"(.*)-(\d{5})-of-(\d{5})(\.\w+)")
_AGAIN = "download the whole repository again"


def read_index(data: mmap.mmap) -> dict[str, str]:
    """Return the file of each tensor, by the tensor's name. Raises RefusedError."""
    if len(data) > LARGEST_INDEX:
        raise RefusedError(f"is an index of {len(data)} bytes; the limit is {LARGEST_INDEX}; split the model")
    try:
        found = json.loads(data[:].decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"is an index of shards that is not JSON; {_AGAIN}") from error
    index = found.get("weight_map") if isinstance(found, dict) else None
    if not isinstance(index, dict) or not index or not all(isinstance(file, str) for file in index.values()):
        raise RefusedError(f"is an index of shards without a table weight_map of files; {_AGAIN}")
    files = sorted({*index.values()})
    if len(index) > MOST_TENSORS or len(files) > _MOST_SHARDS:
        raise RefusedError(f"names more than {MOST_TENSORS} tensors or {_MOST_SHARDS} files; split the model")
    odd = [file for file in files if file != Path(file).name or file in ("", ".", "..") or not file.isprintable()]
    if odd:
        raise RefusedError(f"names files that do not lie beside it: {list_names(odd)}; do not use it")
    return index


def join_shards(index: Mapping[str, str], shards: Mapping[str, Content]) -> Content:
    """Return the tensors of all shards, which must be those of the index. Raises RefusedError."""
    tensors: dict[str, TensorInfo] = {}
    spans: dict[str, StorageSpan] = {}
    for number, (file, shard) in enumerate(shards.items(), 1):
        held = shard.tree if isinstance(shard.tree, dict) else {}
        named = {name for name, one in index.items() if one == file}
        if held.keys() != named:
            wrong = list_names(sorted(map(str, held.keys() ^ named)))
            raise RefusedError(f"and {escape_name(file)} name different tensors ({wrong}); {_AGAIN}")
        for name, info in held.items():
            if not isinstance(info, TensorInfo):
                raise RefusedError(f"names {escape_name(name)}, which is not a plain tensor in {escape_name(file)}")
            tensors[name] = replace(info, view=replace(info.view, storage=f"{number}/{info.view.storage}"))
        spans |= {f"{number}/{key}": replace(span, file=number) for key, span in shard.spans.items()}
    return Content({name: tensors[name] for name in index}, spans)


def refuse_shard(path: Path) -> None:
    """Raise RefusedError for a file that its name and an index beside it show to be one shard of several."""
    found = _SHARD.fullmatch(path.name)
    beside = [index for ending in INDEX if found and (index := path.with_name(f"{found[1]}{ending}")).exists()]
    if found is not None and beside:
        give = escape_name(beside[0].name)
        raise RefusedError(f"is one of {int(found[3])} shards of a model; give their index, {give}")


def explain_shard(path: Path) -> str:
    """Return what to do with a file that fits nothing, if its name is that of one of several shards; else ""."""
    found = _SHARD.fullmatch(path.name)
    if found is None or int(found[3]) < 2:
        return ""
    index = escape_name(f"{found[1]}{found[4]}.index.json")
    return f"its name is that of one of {int(found[3])} shards; if it is, give their index, {index}, with all beside it"
