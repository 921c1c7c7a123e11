"""Seeds derived from names."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from parley.seeds import derive

PART = st.one_of(st.integers(), st.text(alphabet=st.characters(exclude_characters="\x1f")))


@given(st.lists(PART))
def test_a_seed_fits_a_signed_32_bit_number(parts: list[object]) -> None:
    assert 0 <= derive(*parts) < 2**31
    assert derive(*parts) == derive(*parts)


def test_every_part_counts_and_so_does_its_place() -> None:
    places = [
        (seed, name, sample, seat, turn, kind, number)
        for seed in (7, 42)
        for name in ("q1", "q11")
        for sample in range(4)
        for seat in ("agent_a", "agent_b")
        for turn in range(4)
        for kind, number in (("speak", 0), ("summary", 1), ("repair", 1), ("repair", 2))
    ]
    assert len({derive(*place) for place in places}) == len(places)
    assert derive("a", "b") != derive("b", "a")
    assert derive("ab", "c") != derive("a", "bc")
    assert derive("a", "") != derive("a")


def test_seeds_are_the_same_in_every_process_and_release() -> None:
    """A changed value would pair no arm with an older one."""
    assert derive(42, "fictional-42-0", 0, "agent_a", 0, "speak", 0) == 1339644369
    code = "from parley.seeds import derive; print(derive(7, 'q', 1))"
    printed = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert int(printed) == derive(7, "q", 1)
