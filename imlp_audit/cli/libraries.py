"""The libraries of the extras `models` and `pdf`, which an environment that only reads specs does without."""

from __future__ import annotations

from importlib.util import find_spec

MODELS = {
    "PIL": "pillow",
    "cvxpy": "cvxpy",
    "fvcore": "fvcore",
    "huggingface_hub": "huggingface_hub",
    "hypothesis": "hypothesis",
    "numpy": "numpy",
    "pyarrow": "pyarrow",
    "scipy": "scipy",
    "timm": "timm",
    "torch": "torch",
    "torchvision": "torchvision",
    "transformers": "transformers",
}
"""The libraries of `models` by the names that they are imported by."""

PDF = {"pdfplumber": "pdfplumber", "pdfminer": "pdfplumber"}
"""The library of `pdf`; it brings pdfminer."""


def missing_library(error: ModuleNotFoundError) -> str | None:
    """Return the message about a library of an extra that is not installed; None if the error has another cause."""
    module = (error.name or "").partition(".")[0]
    extra = "pdf" if module in PDF else "models"
    name = {**MODELS, **PDF}.get(module)
    if name is None or find_spec(module) is not None:  # a part of an installed library is missing: a bug
        return None
    return f"this needs {name}, which is not installed; run: pip install 'imlp-audit[{extra}]'"
