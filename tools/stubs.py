"""Write the type stub of the core, src/sash/_core.pyi.

Every parameter in it is annotated: what nanobind leaves bare, such as ``*args``, takes any object.
Two stubs are compared by what they declare, so that imports, docstrings and layout, which depend on
the versions of Python and nanobind, do not matter.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
STUB = ROOT / "src" / "sash" / "_core.pyi"
PATTERNS = ROOT / "cpp" / "bindings" / "stubs.txt"
ANY = ": object"


def generated() -> str:
    """Return the stub of the core that is installed."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder, STUB.name)
        command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-P", "-p", str(PATTERNS)]
        subprocess.run([*command, "-m", "sash._core", "-o", str(fresh)], check=True)
        return annotated(fresh.read_text(encoding="utf-8"))


def annotated(stub: str) -> str:
    """Return the stub with ``object`` for each parameter that has no type."""
    lines = [line.encode() for line in stub.splitlines()]  # columns of a tree count bytes
    places = [
        (arg.end_lineno or arg.lineno, arg.end_col_offset or 0)
        for function in _functions(stub)
        for arg in bare(function)
    ]
    for line, column in sorted(places, reverse=True):
        whole = lines[line - 1]
        lines[line - 1] = whole[:column] + ANY.encode() + whole[column:]
    return "\n".join([*(line.decode() for line in lines), ""])


def bare(function: ast.FunctionDef) -> list[ast.arg]:
    """Return the parameters without a type, save the first of a method."""
    given = function.args
    several = [one for one in (given.vararg, given.kwarg) if one is not None]
    found = [*given.posonlyargs, *given.args, *given.kwonlyargs, *several]
    return [one for one in found if one.annotation is None and one.arg not in ("self", "cls")]


def declared(stub: str) -> list[str]:
    """Return what a stub declares: each name with its signature or type."""
    return sorted(_declared(ast.parse(stub).body, ""))


def _declared(body: list[ast.stmt], within: str) -> Iterator[str]:
    for one in body:
        if isinstance(one, ast.ClassDef):
            yield f"{within}class {one.name}({', '.join(map(ast.unparse, one.bases))})"
            yield from _declared(one.body, f"{within}{one.name}.")
        elif isinstance(one, ast.FunctionDef):
            one.body = [ast.Expr(ast.Constant(...))]
            yield within + ast.unparse(one)
        elif isinstance(one, ast.Assign | ast.AnnAssign):
            yield within + ast.unparse(one)


def _functions(stub: str) -> list[ast.FunctionDef]:
    return [n for n in ast.walk(ast.parse(stub)) if isinstance(n, ast.FunctionDef)]


if __name__ == "__main__":
    STUB.write_text(generated(), encoding="utf-8")
