"""Golden files: one folder for each kind of state and each format that was ever released.

A folder has the files and ``manifest.json``, which says of each case how it was made, by which
version, and what it must answer.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import sash

ROOT = Path(__file__).parent / "golden"


def folder(kind: str, number: int) -> Path:
    """Return the folder of a kind of state in a format."""
    return ROOT / kind / f"format-{number}"


def formats(kind: str) -> list[int]:
    """Return the formats that there are files of."""
    found = (ROOT / kind).glob("format-*/manifest.json")
    return sorted(int(path.parent.name.removeprefix("format-")) for path in found)


def write(kind: str, number: int, cases: dict[str, Any]) -> Path:
    """Make all cases and write them into a new folder; one that is there is never touched."""
    place = folder(kind, number)
    place.mkdir(parents=True)
    told = {}
    for name, case in cases.items():
        made = case.make()
        files = []
        for i, data in enumerate(case.save(made)):
            files.append(f"{name}.{i}")
            (place / files[-1]).write_bytes(data)
        told[name] = {"files": files, "made": case.made, "answers": list(case.ask(made))}
    manifest = {"format": number, "sash": sash.__version__, "cases": told}
    (place / "manifest.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
    return place


def manifest(kind: str, number: int) -> dict[str, Any]:
    """Return what a folder says of its files."""
    text = (folder(kind, number) / "manifest.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found


def pairs(kind: str) -> list[tuple[int, str]]:
    """Return format and name of all cases that there are files of."""
    return [(n, name) for n in formats(kind) for name in manifest(kind, n)["cases"]]


def saved(kind: str, number: int, name: str) -> tuple[list[bytes], list[str]]:
    """Return the files of a case, and its answers."""
    case = manifest(kind, number)["cases"][name]
    return [(folder(kind, number) / f).read_bytes() for f in case["files"]], case["answers"]


def check_is_complete(kind: str, number: int, cases: dict[str, Any]) -> None:
    """Every format up to the current one has files, and the current one of every case."""
    assert formats(kind) == list(range(1, number + 1)), (
        f"{kind} has format {number} now: keep the folders of all formats before, and make one "
        "of this with tools/make_golden.py"
    )
    assert set(manifest(kind, number)["cases"]) == set(cases)


def check(kind: str, number: int, name: str, cases: dict[str, Any]) -> None:
    """What was saved then answers as it did then; and so does what it is saved as now."""
    case = cases[name]
    data, answers = saved(kind, number, name)
    assert list(case.ask(case.restore(data))) == answers
    made = case.make()
    again = case.restore(case.save(made))
    assert list(case.ask(again)) == list(case.ask(made)) == answers
