"""The built core is hardened: see "Hardening" in CMakeLists.txt."""

from __future__ import annotations

from pathlib import Path

import pytest
from elf import DT_TEXTREL, PF_X, PT_GNU_RELRO, PT_GNU_STACK, Library

from sash import _core


@pytest.fixture(scope="module")
def core() -> Library:
    assert _core.__file__ is not None
    return Library(Path(_core.__file__))


def test_imports_are_resolved_at_load_time_and_read_only(core: Library) -> None:
    assert core.binds_now
    assert PT_GNU_RELRO in core.flags


def test_neither_the_stack_nor_code_that_is_written_to_can_run(core: Library) -> None:
    assert not core.flags[PT_GNU_STACK] & PF_X
    assert DT_TEXTREL not in core.dynamic


def test_stack_frames_and_buffers_are_checked(core: Library) -> None:
    imports = core.imports()
    assert {"__stack_chk_fail", "PyErr_CheckSignals"} <= imports
    assert any(name.endswith("_chk") for name in imports)


def test_what_is_no_library_is_refused() -> None:
    with pytest.raises(ValueError, match="is not a 64-bit little-endian ELF file"):
        Library(Path(__file__))
