"""Two-hop questions over an invented world: problem i of a seed, whatever else is generated.

Names are made of ordinary words, since a small model cannot copy invented syllables, and no word
is used twice in one problem, so that every name is unambiguous. Each problem is a world of its
own. Gold paragraphs are one plain sentence each, which keeps prompts short on a CPU.

What makes the halves insufficient, and what a test proves on a thousand problems:
- bridge: the half that states the answer does not name what the question names, and the half that
  does states only who or what links the two. What is left is a guess by elimination in the half of
  the answer; with `rivals` it states the same relation of others too, and the guess is a lottery;
- comparison, yes_no: each half knows one of the two that are compared. Numbers lie closer to each
  other than their range is wide, so that one says little about which is smaller;
- distractors name nothing that the question, the gold sentences or the answer name, and state
  relations that no question asks for (rivals excepted).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from parley.data.world import ASIDES, COMPARISONS, HOPS, NAMES, Hop
from parley.seeds import derive
from parley.types import Paragraph, Problem

VERSION = 1
"""Changes whenever the same seed gives other problems."""

YEARS = (1850, 1980)
GAP = (3, 25)
KINDS = ("bridge", "bridge", "comparison", "bridge", "yes_no") * 2
"""The mixture, over and over: about HotpotQA's, which has fewer yes/no questions."""
Gold = tuple[Paragraph, Paragraph]


@dataclass(slots=True, kw_only=True)
class _World:
    """Draws the names of one problem, no word twice."""

    rng: Random
    seed: int
    index: int
    taken: set[str] = field(default_factory=set)

    def subject(self, kind: str) -> str:
        """A name that no other question of this seed begins with. To be drawn first."""
        return self._take(kind, _numbered(kind, self.seed, self.index))

    def name(self, kind: str) -> str:
        left, right = NAMES[kind]
        while True:
            words = (self.rng.choice(left), self.rng.choice(right))
            if self.taken.isdisjoint(words):
                return self._take(kind, words)

    def _take(self, kind: str, words: Sequence[str]) -> str:
        self.taken.update(words)
        return " ".join(("The", *words) if kind == "work" else words)


def invent(seed: int, index: int, *, distractors: int, rivals: int) -> Problem:
    """Problem number `index` of a seed. `distractors` per half; in the half that states the answer
    of a bridge, up to `rivals` of them state the relation asked for, of others."""
    world = _World(rng=Random(derive("fiction", VERSION, seed, index)), seed=seed, index=index)
    block, place = divmod(index, len(KINDS))
    kind = KINDS[place]
    # Of the two places that a kind but bridge has in the mixture, one is heads and one is tails.
    heads = (derive("heads", VERSION, seed, block, kind) % 2 == 1) is (place < len(KINDS) // 2)
    rival: Hop | None = None
    if kind == "bridge":
        question, answer, gold, rival = _bridge(world)
    elif kind == "comparison":
        question, answer, gold = _comparison(world, heads)
    else:
        question, answer, gold = _yes_no(world, heads)
    near = _half(world, gold[0], distractors)
    far = _half(world, gold[1], distractors, [rival] * rivals if rival else [])
    return Problem(
        id=f"fictional-{seed}-{index}",
        question=question,
        answers=(answer,),
        kind=kind,
        shares=(near, far) if world.rng.randrange(2) else (far, near),
        facts=tuple(paragraph.text for paragraph in gold),
    )


def _half(
    world: _World, gold: Paragraph, distractors: int, rivals: Sequence[Hop] = ()
) -> tuple[Paragraph, ...]:
    half = [gold]
    asides: list[tuple[str, str]] = []
    for number in range(distractors):
        if number < len(rivals):
            hop = rivals[number]
            name, other = world.name(hop.subject), world.name(hop.object)
            half.append(Paragraph(title=name, text=hop.states.format(s=name, o=other)))
            continue
        asides = asides or world.rng.sample(ASIDES, len(ASIDES))
        kind, states = asides.pop()
        name = world.name(kind)
        half.append(Paragraph(title=name, text=states.format(s=name)))
    world.rng.shuffle(half)
    return tuple(half)


def _bridge(world: _World) -> tuple[str, str, Gold, Hop]:
    near = world.rng.choice([hop for hop in HOPS if hop.refers])
    far = world.rng.choice(
        [hop for hop in HOPS if hop.asks and hop.subject == near.object and hop is not near]
    )
    subject = world.subject(near.subject)
    link, answer = world.name(near.object), world.name(far.object)
    question = far.asks.format(ref=near.refers.format(s=subject))
    gold = (
        Paragraph(title=subject, text=near.states.format(s=subject, o=link)),
        Paragraph(title=link, text=far.states.format(s=link, o=answer)),
    )
    return question, answer, gold, far


def _comparison(world: _World, heads: bool) -> tuple[str, str, Gold]:
    """`heads`: the one named first in the question is the answer."""
    kind, states, asks, sign = world.rng.choice(COMPARISONS)
    one, two = world.subject(kind), world.name(kind)
    low = world.rng.randint(*YEARS)
    high = low + world.rng.randint(*GAP)
    first, second = (high, low) if heads is (sign > 0) else (low, high)
    gold = (
        Paragraph(title=one, text=states.format(s=one, n=first)),
        Paragraph(title=two, text=states.format(s=two, n=second)),
    )
    return asks.format(a=one, b=two), one if heads else two, gold


def _yes_no(world: _World, heads: bool) -> tuple[str, str, Gold]:
    """`heads`: the answer is yes."""
    hop = world.rng.choice([hop for hop in HOPS if hop.same])
    one, two = world.subject(hop.subject), world.name(hop.subject)
    first = world.name(hop.object)
    second = first if heads else world.name(hop.object)
    gold = (
        Paragraph(title=one, text=hop.states.format(s=one, o=first)),
        Paragraph(title=two, text=hop.states.format(s=two, o=second)),
    )
    return hop.same.format(a=one, b=two), "yes" if heads else "no", gold


def _numbered(kind: str, seed: int, number: int) -> tuple[str, ...]:
    """The name with this number: all 4,096 names of two words in an order of the seed's own, then
    the same with a word between the two, and so on without end."""
    left, right = NAMES[kind]
    block, place = divmod(number, len(left) * len(right))
    first, last = divmod(place, len(right))
    for turn in range(2):  # four Feistel rounds: one-to-one, and neighbours share no word
        first ^= derive("names", seed, kind, 2 * turn, last) % len(left)
        last ^= derive("names", seed, kind, 2 * turn + 1, first) % len(right)
    between = []
    while block:
        block, digit = divmod(block - 1, len(left))
        between.append(left[digit])
    return left[first], *between, right[last]
