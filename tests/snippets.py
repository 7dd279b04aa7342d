"""The code of a page of documentation: its blocks run from top to bottom, the calls in its text are made.

- ```` ```python ```` blocks of a page share names. A statement that ends in `# -> value` has that value:
  an expression its own, an assignment what it assigns. Numbers are compared to the digits shown, `...` stands
  for anything.
- ```` ```sh ```` blocks: lines that begin with `pgm ` are commands of the package, run in the folder of the
  page's files.
- A ```` ```text ```` block right after one of these is what it prints; after a python block that ends in an
  expression, that expression as a notebook would show it comes last.
- ```` ```py ```` blocks are of other libraries: `run` takes them only where asked. There is no R here: `r`
  blocks are read by nobody, and their page says so.
- Any other fence is an error, and so is a text block that no code prints: nothing is passed over in silence.
- Calls between single backticks, in sentences and tables: what makes an object is run, of a question the
  arguments are checked, and `engine="..."` names one that exists.
"""

from __future__ import annotations

import ast
import inspect
import io
import re
import shlex
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pgm
import pgm.cli

FENCE = re.compile(r"^[ \t>]*(?:```|~~~)([^\n]*)\n(.*?)^[ \t>]*(?:```|~~~)[ \t]*$", re.MULTILINE | re.DOTALL)
CODE = {"python", "py", "sh"}
NOT_RUN = {"r", "{toctree}", "{literalinclude}"}  # what pages include is run by test_examples, test_skeletons
SPAN = re.compile(r"`([^`]+)`")
OWNERS = {"pgm": pgm, "net": pgm.BayesianNetwork, "mrf": pgm.MarkovNetwork}  # what sentences mean by a name
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])")


@dataclass(frozen=True)
class Block:
    """A fenced block, and the text block right after it if there is one."""

    language: str
    code: str
    line: int  # of the page, before the first line of code
    shown: str | None


def blocks(text: str) -> Iterator[Block]:
    """All blocks of a page that are code."""
    found = list(FENCE.finditer(text))
    end, code = 0, False  # where the fence before this one ends, and whether it is code
    for match, after in zip(found, [*found, None][1:], strict=True):
        language, line = match[1].split(" ")[0], text.count("\n", 0, match.start(2))
        gap, end = text[end : match.start()], match.end()
        if language == "text":
            printed = code and not gap.strip()
            assert printed, f"line {line}: the text block shows what no code before it prints"
        elif language in CODE:
            close = after is not None and after[1] == "text" and not text[end : after.start()].strip()
            yield Block(language, match[2], line, after[2] if after and close else None)
        else:
            assert language in NOT_RUN, f"line {line}: no test runs a block of {language!r}"
        code = language in CODE


def run(page: Path, languages: tuple[str, ...] = ("python", "sh")) -> None:
    """Run the blocks of a page in the folder we are in; an AssertionError says what is not so."""
    names: dict[str, Any] = {}
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language not in languages:
            continue
        printed = run_shell(block) if block.language == "sh" else run_python(block, page, names)
        if block.shown is not None:
            same(block.shown, printed, f"{page.name}:{block.line}")


def run_shell(block: Block) -> str:
    """What the commands of a block print."""
    printed = ""
    for line in block.code.splitlines():
        assert line.startswith("pgm "), f"line {block.line}: {line!r} is not a command of the package"
        if not set(line) & set("|<>;&$`*?#~\\") and "-h" not in line:
            printed += run_here(line)
            continue
        command = ["sh", "-c", f'pgm() {{ {shlex.quote(sys.executable)} -m pgm "$@"; }}; {line}']
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{line}: {done.stderr}"
        printed += done.stdout
    return printed


def run_here(line: str) -> str:
    """What a command prints that needs no shell; test_cli.py has processes."""
    printed, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(printed), redirect_stderr(errors):
        code = pgm.cli.main(shlex.split(line)[1:])
    assert code == 0, f"{line}: {errors.getvalue()}"
    return printed.getvalue()


def run_python(block: Block, page: Path, names: dict[str, Any]) -> str:
    """What a block prints; the values that it promises are checked on the way."""
    promises = promised(block.code)
    printed = io.StringIO()
    tree = ast.parse(block.code)
    for statement in tree.body:
        ast.increment_lineno(statement, block.line)  # a traceback points at the line of the page
        line = statement.end_lineno or statement.lineno
        promise = promises.pop(line - block.line, None)
        last = statement is tree.body[-1] and block.shown is not None
        with redirect_stdout(printed):
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), str(page), "eval"), names)
                if last and value is not None:
                    printed.write(f"{value!r}\n")
            else:
                exec(compile(ast.Module([statement], []), str(page), "exec"), names)
                value = (
                    names[statement.targets[0].id] if promise and isinstance(statement, ast.Assign) else None
                )  # type: ignore[attr-defined]
        if promise is not None:
            same(promise, repr(value), f"{page.name}:{line}")
    assert not promises, f"{page.name}: after {block.line} no statement ends at {sorted(promises)}"
    return printed.getvalue()


def promised(code: str) -> dict[int, str]:
    """What stands after `# ->`, for each line that has it."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    comments = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
    promises = {line: text for line, text in comments.items() if re.match(r"#\s*[-=]+>", text)}
    for text in promises.values():
        assert text.startswith("# ->"), f"{text!r} would not be checked: write # ->"
    return {line: text[4:].strip() for line, text in promises.items()}


def calls(text: str) -> int:
    """Make the calls in the sentences and tables of a page; how many of them are ours."""
    made = 0
    for source in (" ".join(span.split()) for span in SPAN.findall(FENCE.sub("", text))):
        try:
            tree = ast.parse(f"{source} pass" if source.startswith("with ") else source)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (target := named(node.func)) is not None:
                made += 1
                call(node, target, source)
            elif isinstance(node, ast.keyword | ast.Assign) and isinstance(node.value, ast.Constant):
                name = node.arg if isinstance(node, ast.keyword) else ast.unparse(node.targets[0])
                known = name != "engine" or node.value.value in {..., "auto", *pgm.engines.ENGINES}
                assert known, f"`{source}` names an engine that does not exist"
    return made


def named(function: ast.expr) -> Any:
    """What `pgm.engines.Loopy` or `net.query` is, and None for names of others."""
    if isinstance(function, ast.Name):
        return OWNERS.get(function.id)
    if not isinstance(function, ast.Attribute) or (owner := named(function.value)) is None:
        return None
    assert hasattr(owner, function.attr), f"`{ast.unparse(function)}` does not exist"
    return getattr(owner, function.attr)


def call(node: ast.Call, target: Any, source: str) -> None:
    """Make an object; of anything else, and of arguments left open with `...`, check the arguments only."""
    given = [value for value in node.args if not is_open(value)]
    keywords = {keyword.arg or "": keyword.value for keyword in node.keywords}
    try:
        if isinstance(target, type) and not any(map(is_open, [*node.args, *keywords.values()])):
            made = eval(compile(ast.Expression(node), source, "eval"), {"pgm": pgm})
            with made if isinstance(made, AbstractContextManager) else nullcontext():
                pass
        else:
            method = (
                inspect.isfunction(target) and "." in target.__qualname__
            )  # looked up in its class: no self
            signature = inspect.signature(target)
            bind = signature.bind if len(given) == len(node.args) else signature.bind_partial
            bind(*[None] * method, *given, **keywords)
    except (TypeError, pgm.PGMError) as error:
        raise AssertionError(f"`{source}`: {error}") from error


def is_open(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is ...


def same(shown: str, real: str, where: str) -> None:
    """Compare what a page shows with what is: spaces aside, numbers to the digits shown."""
    wanted, got = " ".join(shown.split()), " ".join(real.split())
    match = re.fullmatch(pattern(wanted), got, re.DOTALL)
    if match is None:  # a tuple may be shown as it was written
        wanted = f"({wanted})"
        match = re.fullmatch(pattern(wanted), got, re.DOTALL)
    assert match, f"{where}: the page shows\n{shown}\nbut it is\n{real}"
    holes = [part for part in parts(wanted) if part == "..." or NUMBER.fullmatch(part)]
    for hole, found in zip(holes, match.groups(), strict=True):
        if hole != "...":
            digits = len(hole.partition("e")[0].partition(".")[2])
            exponent = int(hole.partition("e")[2] or 0)
            off = abs(float(hole) - float(found)) / 10.0**exponent
            assert off <= 0.5 * 10.0**-digits * (1 + 1e-9) if digits or exponent else off == 0, (
                f"{where}: the page shows {hole}, it is {found}"
            )


def pattern(text: str) -> str:
    """What matches a text with other numbers, and with anything for `...`."""
    holes = {"...": "(.*?)"}
    return "".join(
        f"({NUMBER.pattern})" if NUMBER.fullmatch(part) else holes.get(part, re.escape(part))
        for part in parts(text)
    )


def parts(text: str) -> list[str]:
    """A text cut at its numbers and at every `...`."""
    return [part for part in re.split(rf"(\.\.\.|{NUMBER.pattern})", text) if part]
