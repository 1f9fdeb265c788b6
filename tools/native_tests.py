"""Build and run the native tests (cpp/tests/*.cpp), plainly or under sanitizers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1"]


def main() -> int:
    """Compile what changed, run all of it, and say how it went."""
    sanitize = "--sanitize" in sys.argv[1:]
    out = ROOT / "build" / ("native-sanitized" if sanitize else "native")
    out.mkdir(parents=True, exist_ok=True)
    headers = [p.stat().st_mtime for p in (ROOT / "cpp" / "include").rglob("*.hpp")]
    failed = 0
    sources = sorted((ROOT / "cpp" / "tests").glob("*.cpp"))
    for source in sources:
        binary = out / source.stem
        newest = max([source.stat().st_mtime, *headers])
        if not binary.exists() or binary.stat().st_mtime < newest:
            flags = SANITIZE if sanitize else ["-O2"]
            compiler = os.environ.get("CXX", "g++")
            command = [compiler, "-std=c++20", "-Wall", "-Wextra", *flags]
            command += ["-I", str(ROOT / "cpp" / "include"), str(source), "-o", str(binary)]
            subprocess.run(command, check=True)
        result = subprocess.run([binary], check=False)
        failed += result.returncode != 0
    print(f"native tests: {len(sources) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
