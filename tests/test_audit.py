"""What Sash depends on and what its sources may do: the audit finds nothing, and would."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", ROOT / "tools" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nothing_is_wrong(audit: ModuleType) -> None:
    assert audit.everything() == []


PROJECT = """
[build-system]
requires = ["builder"]
[project]
dependencies = ["good>=1", "bad @ https://example.org/bad.whl"]
[project.optional-dependencies]
more = ["sash[x]", "Unused_Thing[extra]>=2"]
"""


def test_requirements(audit: ModuleType, tmp_path: Path) -> None:
    pins, page = "good==1\nbad>=1\nbuilder==2\n", "builder, good, bad and unused-thing"
    assert list(audit.of_requirements(PROJECT, pins, page)) == [
        "constraints.txt: 'bad>=1' is not a name and a version with ==",
        "pyproject.toml: 'bad @ https://example.org/bad.whl' is an address",
        "constraints.txt: bad is missing",
        "constraints.txt: unused-thing is missing",
    ]
    pins = "good==1\nbad==1\nbuilder==2\nunused.thing==3\n"
    assert "docs/dependencies.md: good is not explained" in list(
        audit.of_requirements(PROJECT, pins, "")
    )
    source = tmp_path / "a.py"
    source.write_text("import good.part\nfrom builder import x\ndef f():\n    import bad\n")
    assert list(audit.of_use(PROJECT, [source])) == [
        "pyproject.toml: unused-thing is imported nowhere"
    ]


def test_every_installed_distribution_is_pinned(audit: ModuleType) -> None:
    pins = "good==1\nother_name==2\n"
    installed = [("Good", "1"), ("other.name", "3"), ("new", "4"), ("pip", "9"), ("sash", "0")]
    assert list(audit.of_versions(pins, installed)) == [
        "other.name 3 is installed, constraints.txt has 2",
        "constraints.txt: new==4 is installed and not pinned",
    ]


def test_pins_are_sorted_and_unique(audit: ModuleType) -> None:
    assert list(audit.of_order("# a comment\na==1\nb-c==1\nb_d==1\n")) == []
    for wrong in ("b==1\na==1\n", "a==1\nA==2\n"):
        assert len(list(audit.of_order(wrong))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "eval('1')",
        "def f(x):\n    return exec(x)",
        "__import__('os')",
        "import os\nos.system('ls')",
        "import os\nos.popen('ls')",
        "run('ls', shell=True)",
        "run('ls', shell=flag)",
        "import pickle",
        "from pickle import loads",
        "import urllib.request",
        "import requests",
        "import socket as s",
        "import yaml\nyaml.load(x)",
        "def f():\n    import ctypes",
    ],
)
def test_sources(audit: ModuleType, text: str) -> None:
    assert list(audit.of_source(text, "some.py"))


def test_harmless_sources(audit: ModuleType) -> None:
    text = "import re\nre.compile('x').search(y)\nrun(['ls'], shell=False)\nmodel.eval_()"
    assert list(audit.of_source(text, "some.py")) == []
    assert list(audit.of_source("import socket", "live/_server.py")) == []


def test_the_places_that_are_named_are_there(audit: ModuleType) -> None:
    for module, places in audit.GUARDED.items():
        for place in places:
            text = (ROOT / "src" / "sash" / place).read_text()
            assert module in {name.partition(".")[0] for name in audit.imports(text)}


def test_licences_and_wheels(audit: ModuleType) -> None:
    licences = {
        "a": "MIT", "b": "BSD-3-Clause AND Zlib", "c": "", "d": "GPL-3.0", "e": "Proprietary",
        "f": "License :: OSI Approved :: Apache Software License", "g": "LGPL or MIT",
    }  # fmt: skip
    assert [line[0] for line in audit.of_licences(licences.items())] == ["c", "d", "e", "g"]
    files = ["sash/agg.py", "sash/_core.so", "sash-0.1.0.dist-info/METADATA"]
    assert list(audit.of_names(files)) == []
    for odd in ("sash/.env", "sash/key.pem", "tests/test_x.py", "sash.pth", "sash/data.sqlite"):
        assert list(audit.of_names([odd])) == [f"the wheel has {odd}"]
