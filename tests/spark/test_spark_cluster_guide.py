"""The commands of the cluster guide, run as they are written.

Nothing is downloaded: pip finds small wheels that have the names of the real packages, beside the
real venv-pack. In place of a cluster, `spark-submit` unpacks the archive and starts its Python.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
SUBMIT = """#!/bin/sh -e
# As Spark does on a worker: the archive becomes a folder, and the worker's Python is in it.
test "$1" = --archives
archive=${2%%#*}; folder=${2##*#}
mkdir -p worker/$folder && tar xzf $archive -C worker/$folder
mv env env-of-the-driver
cd worker && exec $PYSPARK_PYTHON ../$3
"""
JOB = "import sash, sys; print(sys.prefix, sash.__file__, sep='\\n')\n"


def commands() -> str:
    """Return the block of the guide that sends an environment along."""
    page = (ROOT / "docs" / "spark.md").read_text()
    (block,) = [b for b in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) if "venv-pack" in b]
    return str(block)


def write_wheel(folder: Path, name: str, version: str, files: dict[str, bytes]) -> None:
    """Write a wheel; files that describe it are added unless they are there."""
    about = f"{name}-{version}.dist-info"
    described = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    tag = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {f"{about}/METADATA": described.encode(), f"{about}/WHEEL": tag.encode(), **files}
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        record = ""
        for path, content in files.items():
            wheel.writestr(path, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            record += f"{path},sha256={digest.decode()},{len(content)}\n"
        wheel.writestr(f"{about}/RECORD", f"{record}{about}/RECORD,,\n")


def write_venv_pack(folder: Path) -> None:
    """Write the wheel of the venv-pack that is installed here."""
    there = metadata.distribution("venv-pack")
    files = {
        str(path): path.read_binary()
        for path in there.files or ()
        if ".." not in path.parts and "__pycache__" not in path.parts and path.name != "RECORD"
    }
    write_wheel(folder, "venv_pack", there.version, files)


def write_packages(folder: Path) -> None:
    """Write Sash's wheel, with the extra that the guide asks for, and what the extra names."""
    extra = ("pyspark", "pandas", "protobuf")
    asked = "".join(f"Requires-Dist: {name} ; extra == 'spark'\n" for name in extra)
    about = f"Metadata-Version: 2.1\nName: sash\nVersion: 0.1.0\nProvides-Extra: spark\n{asked}"
    files = {"sash/__init__.py": b"", "sash-0.1.0.dist-info/METADATA": about.encode()}
    write_wheel(folder / "dist", "sash", "0.1.0", files)
    for name in extra:
        write_wheel(folder / "packages", name, "1.0", {f"{name}.py": b""})
    write_venv_pack(folder / "packages")


def test_an_environment_is_sent_along(tmp_path: Path) -> None:
    """The archive has Sash, and works where the environment it was made of is not."""
    write_packages(tmp_path)
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "bin").mkdir()
    submit = tmp_path / "bin" / "spark-submit"
    submit.write_text(SUBMIT)
    submit.chmod(0o755)
    (tmp_path / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    kept = {k: v for k, v in os.environ.items() if not re.match("PIP_|PYTHON|VIRTUAL_ENV", k)}
    environment = {
        **kept,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "packages"),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_CONFIG_FILE": os.devnull,
    }
    ran = subprocess.run(
        ["sh", "-e", "-c", commands()],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    prefix, module = map(Path, ran.stdout.splitlines()[-2:])
    assert prefix.resolve() == (tmp_path / "worker" / "env").resolve()
    assert prefix.resolve() in module.resolve().parents
