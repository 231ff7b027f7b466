"""Products of matrices with a few rows, on one core.

oneDNN took half the time (on an AMD EPYC) of what numpy and torch choose by default. A tensor in
its layout is multiplied by it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipelines.types import Vectors

SOURCE = Path(__file__)
"""Part of the fingerprint of every pipeline that computes with it."""


def linear(rows: Any, weight: Any, bias: Any = None) -> Any:
    """The result of ``torch.nn.functional.linear``, except for the last bits."""
    import torch

    parts: list[Any] = [
        None if part is None else in_layout(part.detach()) for part in (rows, weight, bias)
    ]
    product = torch.nn.functional.linear(*parts)
    return product.to_dense() if product.is_mkldnn else product


def in_layout(tensor: Any) -> Any:
    """The tensor in oneDNN's layout, if oneDNN is available: worth keeping for a large tensor."""
    import torch

    onednn: Any = torch.backends.mkldnn
    usable = onednn.is_available() and tensor.dtype == torch.float32
    return tensor.to_mkldnn() if usable and not tensor.is_mkldnn else tensor


def similarities(many: Any, few: Vectors) -> Vectors:
    """Of every row with every row; ``many`` is a tensor, best ``in_layout``."""
    import torch

    with torch.inference_mode():
        products: Vectors = linear(many, torch.from_numpy(few)).numpy()
    return products
