"""Text files, plain or gzipped, and open files: read within the memory limit, written whole or not at all."""

from __future__ import annotations

import codecs
import errno
import gzip
import os
import re
import secrets
import stat
import zlib
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Any

import numpy as np

from pgm.config import current
from pgm.errors import FileFormatError, InvalidArgument, TooLarge, shown
from pgm.runtime.room import size_of

Path = str | os.PathLike[str]
File = Path | IO[str] | IO[bytes]

# Memory of a text while it is read, in multiples of its size: as bytes, characters, words and numbers.
_OVERHEAD = 16
_CHUNK = 1 << 20
NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_IN_NUMBERS = {ord(character): None for character in "0123456789.eE+-, \t\r\n\f\v"}
_GZIP = b"\x1f\x8b"
# The declaration of an XML file. Codecs outside the second list are not character sets, and some are slow.
_DECLARED = re.compile(rb"""<\?xml\s[^>]{0,100}?encoding\s{0,9}=\s{0,9}["']([A-Za-z0-9._-]{1,40})["']""")
_ALPHABETS = ("utf-8", "ascii", "iso8859", "cp", "koi8", "mac-", "gb", "big5", "euc_", "shift_jis")


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a file, and the line and column of a position."""

    path: str
    content: str

    def error(self, message: str, position: int) -> FileFormatError:
        """Make the error that names the line and the column of a position, both counted from one."""
        newline = "\n" if "\n" in self.content else "\r"
        line = self.content.count(newline, 0, position) + 1
        column = position - self.content.rfind(newline, 0, position)
        return FileFormatError(message, self.path, line, column)


def name_of(file: File, what: str) -> str:
    """Return the name of a file to "read" or "write", "" for an open file that has none."""
    if isinstance(file, str | os.PathLike):
        name = os.fspath(file)
        if isinstance(name, str):
            return _checked(name)
    elif hasattr(file, what):
        name = getattr(file, "name", "")
        return name if isinstance(name, str) else ""  # the name of an open descriptor is its number
    raise InvalidArgument(
        f"A file to {what} is a path (text or a pathlib.Path) or open with {what}(), not {shown(file)}."
    )


def _checked(name: str) -> str:
    """Return a name that a file can have: the operating system ends it at the first zero byte."""
    try:
        if b"\0" not in os.fsencode(name):
            return name
    except UnicodeEncodeError:
        pass
    raise InvalidArgument(f"No file can have the name {shown(name)}: it has a forbidden character.")


def read_text(file: File, encoding: str | None = None) -> Text:
    """Read a file, unpacking it if it is gzipped.

    Without an encoding, that of its byte order mark or XML declaration is used, else UTF-8.
    """
    name = name_of(file, "read") or "<file>"
    if encoding is not None:
        _check_encoding(encoding)
    if isinstance(file, str | os.PathLike):
        with open(file, "rb") as stream:
            data = _limited(stream, name)
    else:
        try:
            data = _limited(file, name)
        except UnicodeDecodeError as error:  # an open text file decodes for itself
            message = f"this is not {error.encoding} text; open the file with another encoding="
            raise FileFormatError(message, name) from None
    if isinstance(data, str):
        return Text(name, data.removeprefix("\ufeff"))
    if data.startswith(_GZIP):
        data = _unpacked(data, name)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif data.startswith(codecs.BOM_UTF8):
        encoding = "utf-8-sig"
    elif encoding is None:
        encoding = _declared(data, name)
    try:
        return Text(name, data.decode(encoding))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        byte = f"byte 0x{data[error.start]:02x}"
        message = f"this is not {encoding} text ({byte}); pass encoding='latin-1' or what it is"
        raise FileFormatError(message, name, line, column) from None
    except UnicodeError as error:  # some codecs do not say where
        raise FileFormatError(f"this is not {encoding} text: {error}", name) from None


def _check_encoding(encoding: object) -> None:
    try:
        "".encode(encoding)  # type: ignore[arg-type]
    except (LookupError, TypeError, ValueError):  # unknown, not text, or not a text encoding
        raise InvalidArgument(f"There is no encoding {shown(encoding)}; try 'utf-8' or 'latin-1'.") from None


def _limited(stream: Any, name: str) -> Any:
    """Return the content of an open file, as text or bytes."""
    limit = current().memory_limit // _OVERHEAD
    chunks: list[Any] = []
    size = 0
    while chunk := stream.read(_CHUNK):
        size += len(chunk)
        if size > limit:
            raise TooLarge(
                f"{name}: more than {size_of(limit)} of text, and the memory limit allows no more; if the "
                "file is what you meant, pgm.set_config(memory_limit=...) raises the limit"
            )
        chunks.append(chunk)
    if not all(type(chunk) is type(chunks[0]) and isinstance(chunk, str | bytes) for chunk in chunks):
        raise InvalidArgument(f"{name}: read() of an open file gives text or bytes, not {shown(chunks[0])}.")
    return chunks[0][:0].join(chunks) if chunks else b""


def _unpacked(data: bytes, name: str) -> bytes:
    try:
        found: bytes = _limited(gzip.GzipFile(fileobj=BytesIO(data)), name)
        return found
    except EOFError:
        raise FileFormatError(
            "the gzipped file is truncated: it was not written or copied completely", name
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FileFormatError(f"the gzipped file is damaged: {error}", name) from None


def _declared(data: bytes, name: str) -> str:
    """Return the encoding that an XML declaration names, else UTF-8."""
    match = _DECLARED.match(data)
    if match is None:
        return "utf-8"
    word = match[1].decode()
    if word.lower().startswith(("utf-16", "utf-32")):
        return "utf-8"  # the declaration was read as ASCII bytes: the file has been converted since
    try:
        found = codecs.lookup(word).name
    except LookupError:
        found = ""
    if found.startswith(_ALPHABETS):
        return found
    message = f"the encoding {word!r} is not known here; pass encoding='latin-1' or what it is"
    raise FileFormatError(message, name, 1, match.start(1) + 1)


def write_text(file: File, content: str) -> None:
    """Write a file in UTF-8, gzipped if its name says so; a reader sees either the old file or the new one.

    Files that are open already are written to directly, as text or bytes; so are pipes and devices, which are
    never replaced.
    """
    name = name_of(file, "write")
    if not isinstance(file, str | os.PathLike):
        _write_open(file, content)
        return
    data = content.encode()
    if name.lower().endswith(".gz"):
        data = gzip.compress(data, mtime=0)  # no time stamp: equal models give equal files
    target = os.path.realpath(file)
    try:
        mode: int | None = os.stat(target).st_mode
    except FileNotFoundError:
        mode = None
    try:
        if mode is None or stat.S_ISREG(mode):
            _replace(target, mode, data)
        else:
            with open(target, "wb") as stream:
                stream.write(data)
    except OSError as error:  # name the target file, not the temporary one
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, os.fspath(file)) from None


def _replace(target: str, mode: int | None, data: bytes) -> None:
    """Replace the file of this mode, if there is one, by a new file."""
    if mode is not None:
        os.close(os.open(target, os.O_WRONLY))  # a write-protected file must not be replaced either
    folder = os.path.dirname(target)
    # Not derived from the target's name, which may already have the maximal length.
    temporary = os.path.join(folder, f".{secrets.token_hex(8)}.tmp")
    descriptor, named = _opened(folder, temporary)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            if mode is not None:
                os.chmod(temporary if named else descriptor, stat.S_IMODE(mode))
            os.fsync(descriptor)
            if not named:
                _link(descriptor, folder, temporary)
                named = True
        os.replace(temporary, target)
    except BaseException:
        if named:
            os.unlink(temporary)
        raise


def _opened(folder: str, temporary: str) -> tuple[int, bool]:
    """Open a new file, and say whether it already has its name.

    Where the system supports it (Linux), the file has no name until it is complete: a process that is killed
    leaves nothing behind.
    """
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        try:
            return os.open(folder, os.O_WRONLY | os.O_TMPFILE, 0o666), False
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
                raise
    # Opened like this, not by tempfile, so that the file gets the usual permissions.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(temporary, flags, 0o666), True


def _link(descriptor: int, folder: str, name: str) -> None:
    """Give an open file without a name one."""
    at = os.open(folder, os.O_RDONLY)
    try:  # without dst_dir_fd Python would link to the link in /proc
        os.link(f"/proc/self/fd/{descriptor}", os.path.basename(name), dst_dir_fd=at, follow_symlinks=True)
    finally:
        os.close(at)


def _write_open(stream: Any, content: str) -> None:
    try:
        stream.write("")
    except TypeError:
        stream.write(content.encode())
    else:
        stream.write(content)


def parsed(words: list[str], text: str) -> np.ndarray | None:
    """Return the words of a text as float64, or None if one of them is no `NUMBER`.

    Python would also accept nan, inf, 1_000 and the digits of other scripts.
    """
    if text.translate(_IN_NUMBERS).strip():  # Unicode white space may be left
        return None
    try:
        return np.array(words, dtype=np.float64)
    except ValueError:
        return None
