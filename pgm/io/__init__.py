"""Files: the format follows from the name, and a name that ends in .gz is packed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from pgm.errors import InvalidArgument, listed, shown
from pgm.models import BayesianNetwork, MarkovNetwork

from . import bif, uai
from .text import Path
from .uai import read_evidence

Model = BayesianNetwork | MarkovNetwork

_READERS: dict[str, Callable[[Path, str], Model]] = {".bif": bif.read, ".uai": uai.read}


def read(path: Path, *, encoding: str = "utf-8") -> Model:
    """Read a model from a file.

    Args:
        path: ends in .bif or .uai, or in one of them and .gz; .uai files may hold Markov networks.
        encoding: of a file that is not UTF-8, such as "latin-1".

    >>> import pgm, tempfile
    >>> net = pgm.BayesianNetwork("wet grass")
    >>> net.add("rain", {"no": 0.8, "yes": 0.2})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pgm.write(net, folder + "/wet.bif")
    ...     pgm.read(folder + "/wet.bif") == net
    True
    """
    return _READERS[_extension(path)](path, encoding)


def write(
    model: Model,
    path: Path,
    *,
    expand: bool = False,
    evidence: Mapping[str, Any] | None = None,
) -> None:
    """Write a model to a file, whole or not at all; what the format cannot hold is an error.

    Args:
        model: a Bayesian network, or for .uai also a Markov network.
        path: ends in .bif or .uai, or in one of them and .gz.
        expand: write tables in place of distributions that are none, and bins as text.
        evidence: what was observed; for .uai, which has a file for it: model.uai.evid.
    """
    extension = _extension(path)
    numbers = [v.name for v in getattr(model, "variables", {}).values() if v.continuous]
    if numbers:
        raise InvalidArgument(
            f"{extension} files hold variables with states; these are continuous: {listed(numbers)}."
        )
    if extension == ".uai":
        uai.write(model, path, expand=expand, evidence=evidence)
    elif evidence is not None:
        raise InvalidArgument(f"evidence= has no effect: {extension} files do not hold it, .uai files do")
    else:
        bif.write(model, path, expand=expand)


def _extension(path: Path) -> str:
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise InvalidArgument(f"A file is named by text or a pathlib.Path, not by {shown(path)}.")
    name = os.path.basename(os.fspath(path)).lower().removesuffix(".gz")
    extension = os.path.splitext(name)[1]
    if extension in _READERS:
        return extension
    hint = " Evidence is read by pgm.read_evidence(path, model)." if extension == ".evid" else ""
    known = ", ".join(_READERS)
    raise InvalidArgument(
        f"Which format has {shown(os.fspath(path))}? A name ends in one of {known} (and .gz).{hint}"
    )


__all__ = ["read", "read_evidence", "write"]
