"""Text files, plain or gzipped: read within the memory limit, written whole or not at all."""

from __future__ import annotations

import codecs
import gzip
import os
import re
import secrets
import zlib
from dataclasses import dataclass
from typing import IO

import numpy as np

from pgm.config import current
from pgm.errors import FileFormatError, InvalidArgument, TooLarge

Path = str | os.PathLike[str]

# A text that is being read takes about so many times its size: as bytes, characters, words and numbers.
_OVERHEAD = 16
_CHUNK = 1 << 20
NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_IN_NUMBERS = {ord(character): None for character in "0123456789.eE+-, \t\r\n\f\v"}
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Text:
    """What a file says, and where in it a position is."""

    path: str
    content: str

    def error(self, message: str, position: int) -> FileFormatError:
        """Make the error that names the line and the column of a position, both counted from one."""
        newline = "\n" if "\n" in self.content else "\r"
        line = self.content.count(newline, 0, position) + 1
        column = position - self.content.rfind(newline, 0, position)
        return FileFormatError(message, self.path, line, column)


def read_text(path: Path, encoding: str = "utf-8") -> Text:
    """Read a file, unpacking it if it is gzipped; a mark of byte order at its start decides the encoding."""
    name = os.fspath(path)
    with open(name, "rb") as stream:
        packed = stream.read(len(_GZIP)) == _GZIP
        stream.seek(0)
        try:
            data = _limited(gzip.GzipFile(fileobj=stream) if packed else stream, name)
        except EOFError:
            raise FileFormatError(
                "the gzipped file breaks off: it was not written or copied whole", name
            ) from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise FileFormatError(f"the gzipped file is damaged: {error}", name) from None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif data.startswith(codecs.BOM_UTF8):
        encoding = "utf-8-sig"
    try:
        return Text(name, data.decode(encoding))
    except LookupError:
        raise InvalidArgument(f"there is no encoding {encoding!r}; try 'utf-8' or 'latin-1'") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        byte = f"byte 0x{data[error.start]:02x}"
        message = f"this is not {encoding} text ({byte}); pass encoding='latin-1' or what it is"
        raise FileFormatError(message, name, line, column) from None


def _limited(stream: IO[bytes] | gzip.GzipFile, name: str) -> bytes:
    limit = current().memory_limit // _OVERHEAD
    chunks: list[bytes] = []
    size = 0
    while chunk := stream.read(_CHUNK):
        size += len(chunk)
        if size > limit:
            raise TooLarge(
                f"{name}: more than {limit / 1e6:,.3g} MB of text, and the memory limit allows no more; "
                "if the file is what you meant, `with pgm.config(memory_limit=...)` raises the limit"
            )
        chunks.append(chunk)
    return b"".join(chunks)


def write_text(path: Path, content: str) -> None:
    """Write a file in UTF-8, gzipped if its name says so; a reader finds the old one or the new one."""
    data = content.encode()
    if os.fspath(path).lower().endswith(".gz"):
        data = gzip.compress(data, mtime=0)  # no time in it: equal models make equal files
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(4)}.tmp")
    # Opened like this, not by tempfile, so that the new file has the permissions of any other.
    try:
        descriptor = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666
        )
    except OSError as error:  # say which file was to be written, not what it would have been called meanwhile
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if os.path.exists(target):
            os.chmod(temporary, os.stat(target).st_mode & 0o7777)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def parsed(words: list[str], text: str) -> np.ndarray | None:
    """Return the words of a text as float64, or None if one of them is no `NUMBER`.

    Python would also take nan, inf, 1_000 and the digits of other scripts.
    """
    if text.translate(_IN_NUMBERS):
        return None
    try:
        return np.array(words, dtype=np.float64)
    except ValueError:
        return None
