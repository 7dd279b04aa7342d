"""Files: the format follows from the file name; a name that ends in .gz is gzipped.

A format is a module of this folder with two functions:

    read(source: Text) -> Model                 pgm.errors.FileFormatError names the place
    write(model, *, expand: bool) -> str        pgm.errors.InvalidArgument says what the format cannot hold
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pgm.calls import guarded
from pgm.errors import InvalidArgument, nearest, shown

from .text import File, name_of, read_text, write_text
from .uai import read_evidence
from .uai_results import read_result, write_result

if TYPE_CHECKING:
    from .json import Model

# File name extension, which is also the name of the format, and its module, loaded when first used.
FORMATS = {
    "bif": "bif",
    "dsc": "dsc",
    "json": "json",
    "net": "hugin",
    "uai": "uai",
    "xmlbif": "xmlbif",
    "xml": "xmlbif",
    "bifxml": "xmlbif",
    "xdsl": "xdsl",
}
_ANSWERS = (".evid", ".mar", ".map", ".mpe", ".pr")


@guarded
def read(file: File, *, format: str | None = None, encoding: str | None = None) -> Any:
    """Read a model from a file: a `BayesianNetwork`, or what else the file holds, as an `InfluenceDiagram`.

    Args:
        file: a path or an open file, gzipped or not.
        format: the file name extension, such as "bif"; needed if the name does not have one.
        encoding: the encoding of a file that is not UTF-8 and does not declare it, such as "latin-1".

    Raises:
        InvalidArgument: the format cannot be told from the arguments.
        FileFormatError: the file does not follow its format; with line and column.
        OSError: it cannot be opened.
        TooLarge: it is larger than the memory limit allows.

    >>> import pgm, tempfile
    >>> net = pgm.BayesianNetwork("wet grass")
    >>> net.add("rain", {"no": 0.8, "yes": 0.2})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pgm.write(net, folder + "/wet.bif")
    ...     pgm.read(folder + "/wet.bif") == net
    True
    """
    module = _module(_format(file, format, "read"))
    return module.read(read_text(file, encoding))  # Any: only the file determines the kind of model


@guarded
def write(
    model: Model,
    file: File,
    *,
    format: str | None = None,
    expand: bool = False,
    evidence: Mapping[str, Any] | None = None,
) -> None:
    """Write a model to a file, whole or not at all; anything that the format cannot hold is an error.

    Args:
        model: a Bayesian network; some formats hold others too, JSON all.
        file: a path, gzipped if it ends in .gz, or a file open for text or bytes.
        format: the file name extension, such as "bif"; needed if the name does not have one.
        expand: write tables in place of distributions that the format does not know, and bins as text.
        evidence: what was observed; only for UAI, which has a separate file for it: model.uai.evid.

    Raises:
        InvalidArgument: the format cannot hold something, which is named; `expand=True` may help.
        TooLarge: with `expand=True`, a table that does not fit the memory limit.
        OSError: the file cannot be written.

    >>> import io, pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", {"no": 0.8, "yes": 0.2})
    >>> file = io.StringIO()
    >>> pgm.write(net, file, format="uai")
    >>> file.getvalue().split()
    ['BAYES', '1', '2', '1', '1', '0', '2', '0.8', '0.2']
    """
    chosen = _format(file, format, "write")
    module = _module(chosen)
    content: str = module.write(model, expand=expand)
    if evidence is None:
        write_text(file, content)
        return
    if chosen != "uai":
        raise InvalidArgument(f"evidence= has no effect: {chosen} files do not hold it, uai files do")
    if not isinstance(file, str | os.PathLike):
        raise InvalidArgument("evidence= is written beside model.uai: write to a path, not to an open file")
    findings = module.write_evidence(model, evidence)
    write_text(file, content)
    write_text(os.fspath(file).removesuffix(".gz") + ".evid", findings)


def _format(file: File, format: str | None, what: str) -> str:
    """Return the format that is asked for, or the one that the name implies."""
    name = name_of(file, what)
    known = ", ".join(FORMATS)
    if format is not None:
        if isinstance(format, str) and format in FORMATS:
            return format
        raise InvalidArgument(
            f"There is no format {shown(format)}; there are {known}.{nearest(format, FORMATS)}"
        )
    extension = os.path.splitext(os.path.basename(name).lower().removesuffix(".gz"))[1]
    if extension[1:] in FORMATS:
        return extension[1:]
    if not name:
        raise InvalidArgument(f"What is the format of the open file? Pass format=, one of {known}.")
    reader = "read_evidence" if extension == ".evid" else "read_result"
    hint = f" This is read by pgm.{reader}(file, model)." if extension in _ANSWERS else ""
    if not extension and what == "read" and not os.path.exists(name):
        from .bundled import bundled_instead  # which loads JSON's format

        raise InvalidArgument(f"There is no file {shown(name)}. {bundled_instead(name)}")
    raise InvalidArgument(
        f"What is the format of {shown(name)}? A name ends in .{', .'.join(FORMATS)} (and .gz); "
        f"or pass format=, one of {known}.{hint}"
    )


def _module(format: str) -> Any:
    return import_module(f".{FORMATS[format]}", __name__)


__all__ = ["FORMATS", "read", "read_evidence", "read_result", "write", "write_result"]
