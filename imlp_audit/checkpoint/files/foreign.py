"""What an archive or a folder is that holds weights in another form, and the line that makes it usable."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from imlp_audit.checkpoint.refusal import RefusedError, list_names

WEIGHTS = (".safetensors", ".pth", ".pt", ".pth.tar", ".ckpt", ".bin", ".npz", ".t7")
INDEX = (".safetensors.index.json", ".bin.index.json")
_CONVERTED = "and give weights.pth"


def refuse_foreign(names: Sequence[str]) -> None:
    """Raise RefusedError for a zip archive whose files are not those that torch.save writes."""
    if any(name.endswith("/constants.pkl") or "/code/" in name for name in names):
        raise RefusedError(
            "is a TorchScript archive, which is a program; if you trust it, run "
            f'`torch.save(torch.jit.load("FILE").state_dict(), "weights.pth")` {_CONVERTED}'
        )
    if any(name.endswith("/data.pkl") for name in names) or is_numpy(names):
        return
    if "model.weights.h5" in names:
        raise RefusedError("is a Keras model; load it in Keras and save the weights with safetensors")
    weights = [name for name in names if name.endswith(WEIGHTS)]
    inside = f" ({list_names(weights)})" if weights else ""
    raise RefusedError(
        f"is a zip archive that torch.save did not write; run `unzip FILE` and give the file of weights inside{inside}"
    )


def is_numpy(names: Collection[str]) -> bool:
    """Say whether these are the files of an archive that numpy.savez writes."""
    return len(names) > 0 and all(name.endswith(".npy") for name in names)


def explain_folder(path: Path) -> RefusedError:
    """Return the refusal of a folder, with what to give in its place. Raises OSError."""
    names = sorted(one.name for one in path.iterdir())
    if ".metadata" in names and any(name.endswith(".distcp") for name in names):
        command = "python -m torch.distributed.checkpoint.format_utils dcp_to_torch FOLDER weights.pth"
        return RefusedError(f"is a folder of torch.distributed.checkpoint; run `{command}` {_CONVERTED}")
    if "zero_to_fp32.py" in names:
        command = "python zero_to_fp32.py . weights"
        return RefusedError(f"is a folder of DeepSpeed; run `{command}` in it and give the file that this writes")
    files = [name for name in names if name.endswith(INDEX)] or [name for name in names if name.endswith(WEIGHTS)]
    give = (
        f"the file of weights in it: {list_names(files)}" if files else "a .safetensors file or a torch file of weights"
    )
    return RefusedError(f"is a folder, not a file; give {give}")
