"""The mutator of the core's headers: what it changes, what it leaves alone, what it compiles to."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tools.mutants import build
from tools.mutants.places import Mutant, find
from tools.mutants.rewrite import rewrite
from tools.mutants.sample import choose, every


def changes(body: str) -> list[tuple[str, str]]:
    """Kind and change of all mutants of a function with this body."""
    return [(m.kind, m.change) for m in find("x.hpp", f"void f() {{ {body} }}")]


def only(body: str, kind: str) -> str:
    """The body with all its mutants of one kind, numbered from 1."""
    text = f"void f() {{ {body} }}"
    mutants = [m for m in find("x.hpp", text) if m.kind == kind]
    return rewrite(text, enumerate(mutants, 1)).removeprefix("void f() { ").removesuffix(" }")


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("comparison", "return x + y < g(z);", "return S::less(1, x + y , g(z));"),
        ("comparison", "if (p->n != 0) g();", "if (S::differ(1, p->n , 0)) g();"),
        ("arithmetic", "return a - b * c;", "return S::minus(1, a , S::times(2, b , c));"),
        ("arithmetic", "return a - b - c;", "return S::minus(2, S::minus(1, a , b) , c);"),
        (
            "bits",
            "return W{1} << n & m;",
            "return S::both_bits(2, S::shift_left(1, W{1} , n) , m);",
        ),
        (
            "connective",
            "return a < b || !c;",
            "return S::flip(1, S::flip(1, a < b) || S::flip(1, !c));",
        ),
        ("negation", "return !g(x).y && z;", "return S::flip(1, !g(x).y) && z;"),
        ("assignment", "if (a) { } n += x ? 1 : 2;", "if (a) { } S::add_to(1, n , x ? 1 : 2);"),
        ("step", "for (; i < n; ++i) --p->n;", "for (; i < n; ++i) S::down(1, p->n);"),
        ("off by one", "return at[n - 1u];", "return at[n - S::one_more(1, 1u)];"),
        ("constant", "return true;", "return S::flip(1, true);"),
        ("extreme", "return std::min<T>(a, b);", "return S::least<T>(1, a, b);"),
        (
            "statement",
            "if (a) b.c(d); else e = f;",
            "if (a) { if (!S::on(1)) b.c(d); } else { if (!S::on(2)) e = f; }",
        ),
        (
            "sides",
            "m_.combine(out, a(1), b);",
            "S::sides(1, [&](const auto& sash_a, const auto& sash_b) -> decltype(auto) "
            "{ return m_.combine(out, sash_a, sash_b); },  a(1), b);",
        ),
    ],
)
def test_a_place_becomes_a_switch(kind: str, body: str, expected: str) -> None:
    assert only(body, kind) == expected.replace("S::", "sash_mutant::")


@pytest.mark.parametrize(
    "body",
    [
        "// a < b && c\n /* n += 1; */",
        "if constexpr (N > 1 && !T::x) return;",
        "static_assert(N + 1 < 2);",
        "constexpr int n = 1 + 2, m = n < 3;",
        "using T = std::array<int, 2 * N>;",
        "if constexpr (requires { a + b; }) return;",
        'throw Error("a" + b(1));',
        "Cell* a, &&b;",
        "char bytes[8];",
        "v.reserve(n + 1);",
        "const int few = 16;",
    ],
)
def test_what_does_not_run_or_matter_is_left_alone(body: str) -> None:
    assert changes(body) == []


def test_strings_are_left_alone() -> None:
    assert changes('say("a < b");') == [("statement", 'dropped: say("a < b")')]


def test_declarations_are_not_statements() -> None:
    text = "struct A { A(int n); int f(int n = g(2)); };\nint h(int a);\n"
    assert find("x.hpp", text) == []
    assert changes("Held<M> back(m), out(m); A a(b), *c = d; struct { } e(f);") == []


def test_own_tests_of_the_core_are_left_alone() -> None:
    assert find("x.hpp", "void check_invariants() const { if (a < b) fail(); }") == []


def test_a_key_stays_when_lines_move() -> None:
    text = "void f() {\n  if (a < b) g();\n}\n"
    moved = "// A line.\n\n" + text
    assert [m.key for m in find("x.hpp", text)] == [m.key for m in find("x.hpp", moved)]
    keys = [m.key for m in find("x.hpp", text + text.replace("f", "h"))]
    assert len(set(keys)) == len(keys)


def test_the_choice_is_the_same_every_time() -> None:
    possible = every()
    some, more = choose(possible, 200), choose(possible, 300)
    assert len({m.key for m in possible}) == len(possible)
    assert (len(some), len(more)) == (200, 300)
    assert {m.key for m in some} < {m.key for m in more}
    assert some == choose(possible, 200)
    assert {m.key for m in possible if m.kind == "sides"} < {m.key for m in some}
    assert len({m.file for m in more}) > 40


PROGRAM = """#pragma once
#include <cstdio>
constexpr int twice(int n) { return n * 2; }
static_assert(twice(2) == 4);
int main() {
  int n = 0, calls = 0;
  auto count = [&](int a) { ++calls; return a; };
  if (count(3) < count(3) && count(1) != 0) n += 10;
  n += twice(7) - 1;
  std::printf("%d %d", n, calls);
}
"""


def test_one_build_holds_all_mutants(tmp_path: Path) -> None:
    """Without one the program says what it says; each that is on changes it."""
    mutants: list[Mutant] = [m for m in find("x.hpp", PROGRAM) if "printf" not in m.text]
    switch = tmp_path / "sash/mutants/switch.hpp"
    switch.parent.mkdir(parents=True)
    switch.write_text(f"#define SASH_MUTANTS {len(mutants)}\n" + build.SWITCH.read_text())
    source, program = tmp_path / "x.cpp", tmp_path / "x"
    source.write_text(rewrite(PROGRAM, enumerate(mutants, 1)))
    command = ["g++", "-std=c++20", "-w", "-I", str(tmp_path), str(source), "-o", str(program)]
    subprocess.run(command, check=True)

    def run(mutant: int) -> str:
        environment = {**os.environ, "SASH_MUTANT": str(mutant)}
        return subprocess.run(
            [program], env=environment, capture_output=True, check=True, text=True
        ).stdout

    assert run(0) == "13 2"
    said = {m.change: run(n) for n, m in enumerate(mutants, 1)}
    assert said["< to <="] == "23 3"
    assert said["&& to ||"] == "23 3"
    assert said["* to +"] == "8 2"
    assert said["- to +"] == "15 2"
    assert said["dropped: ++calls"] == "13 0"
