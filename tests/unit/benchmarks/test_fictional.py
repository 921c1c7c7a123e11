from __future__ import annotations

import itertools
import json
import re
from collections import Counter

import pytest

from parley.benchmarks.fictional import Fictional
from parley.data.world import ADJECTIVES, ASIDES, COMPARISONS, FIRST_NAMES, HOPS, NAMES, NOUNS
from parley.errors import ConfigError
from parley.protocols import Benchmark
from parley.templates import template
from parley.types import Problem

THOUSAND = Fictional(problems=1000).load().problems
RIVALLED = Fictional(problems=1000, rivals=1).load().problems
NAME = re.compile(r"(?:The )?[A-Z][a-z]+(?: [A-Z][a-z]+)+")


def halves(problem: Problem) -> tuple[str, str]:
    """The two halves as text; the one with the first gold sentence first."""
    texts = ["\n".join(f"{p.title}: {p.text}" for p in share) for share in problem.shares]
    near, far = texts if problem.facts[0] in texts[0] else reversed(texts)
    return near, far


def named(text: str) -> set[str]:
    return {match.removeprefix("The ") for match in NAME.findall(text)} - {"Answer"}


def asked(problem: Problem) -> set[str]:
    """The names in a question, its first word ("Were The Grand Valley ...") left out."""
    return named(problem.question.partition(" ")[2])


def test_it_is_a_benchmark() -> None:
    benchmark: Benchmark = Fictional()
    assert (benchmark.name, benchmark.metric) == ("fictional", "f1")


def test_no_word_serves_two_kinds_of_name_or_stands_in_a_sentence() -> None:
    words = [word for lists in NAMES.values() for words in lists for word in words]
    assert len(words) == len(set(words))
    sentences = [text for _, text in ASIDES] + [
        text for _, *texts, _ in COMPARISONS for text in texts
    ]
    sentences += [text for hop in HOPS for text in (hop.states, hop.refers, hop.asks, hop.same)]
    spoken = {word for text in sentences for word in re.findall(r"[a-z]+", text.lower())}
    assert not spoken & {word.lower() for word in words}
    assert len(ADJECTIVES) == len(NOUNS) == len(FIRST_NAMES) == 64


def test_distractors_state_relations_that_no_question_asks_for() -> None:
    asides = {states for _, states in ASIDES}
    assert not asides & {hop.states.replace("{o}", "{s}") for hop in HOPS}
    for problem in THOUSAND:
        for paragraph in (p for share in problem.shares for p in share):
            stated = paragraph.text.replace(paragraph.title, "{s}")
            assert (stated in asides) is (paragraph.text not in problem.facts), problem.id


def test_no_half_of_a_thousand_problems_holds_an_answer() -> None:
    for problem in THOUSAND + RIVALLED:
        near, far = halves(problem)
        assert problem.facts[0] in near, problem.id
        assert problem.facts[0] not in far, problem.id
        assert problem.facts[1] in far, problem.id
        assert problem.facts[1] not in near, problem.id
        if problem.kind == "bridge":
            check_bridge(problem, near, far)
        else:
            check_compared(problem, near, far)


def check_bridge(problem: Problem, near: str, far: str) -> None:
    """One half knows what the question names, the other the answer; only the link is in both."""
    (subject,) = asked(problem)
    assert subject in near, problem.id
    assert subject not in far, problem.id
    assert problem.answers[0] in far, problem.id
    assert problem.answers[0] not in near, problem.id
    (link,) = named(problem.facts[0]) - {subject}
    assert near.count(link) == 1, problem.id
    assert link in problem.facts[1], problem.id
    assert link not in problem.question, problem.id


def check_compared(problem: Problem, near: str, far: str) -> None:
    """Each half knows one of the two that are compared."""
    one, two = (next(n for n in asked(problem) if n in fact) for fact in problem.facts)
    assert {one, two} == asked(problem), problem.id
    assert one in near, problem.id
    assert one not in far, problem.id
    assert two in far, problem.id
    assert two not in near, problem.id
    if problem.kind == "yes_no":
        assert problem.answers[0] in ("yes", "no"), problem.id
    else:
        assert problem.answers[0].removeprefix("The ") in (one, two), problem.id


def test_no_distractor_names_what_gold_or_question_name() -> None:
    for problem in THOUSAND + RIVALLED:
        gold = asked(problem) | set().union(*map(named, problem.facts))
        paragraphs = [p for share in problem.shares for p in share]
        others = [p for p in paragraphs if p.text not in problem.facts]
        assert len(paragraphs) == 6
        assert len(others) == 4
        for paragraph in others:
            assert not named(paragraph.text) & gold
            assert paragraph.title in paragraph.text
        titles = [p.title for p in paragraphs]
        assert len(set(titles)) == len(titles)


def test_names_of_a_problem_share_no_word() -> None:
    for problem in THOUSAND + RIVALLED:
        text = " / ".join(p.text for share in problem.shares for p in share)
        names = {name for name in named(text) if name != "The"}
        for one, two in itertools.combinations(names, 2):
            assert not set(one.split()) & set(two.split()), problem.id


def test_the_answers_are_right() -> None:
    for problem in THOUSAND:
        if problem.kind == "comparison":
            years = [int(re.findall(r"\d{4}", fact)[0]) for fact in problem.facts]
            wanted = min(years) if "first" in problem.question else max(years)
            assert problem.answers[0] in problem.facts[years.index(wanted)]
            assert years[0] != years[1]
        elif problem.kind == "yes_no":
            values = [named(fact) - asked(problem) for fact in problem.facts]
            assert (values[0] == values[1]) is (problem.answers == ("yes",))


def test_rivals_state_the_relation_asked_for_in_the_half_of_the_answer() -> None:
    for rivals in (0, 1, 2):
        for problem in Fictional(problems=200, rivals=rivals).load().problems:
            if problem.kind != "bridge":
                continue
            (link,) = named(problem.facts[0]) & named(problem.facts[1])
            pattern = re.escape(problem.facts[1]).replace(re.escape(link), "(.+)")
            pattern = pattern.replace(re.escape(problem.answers[0]), "(.+)")
            share = next(s for s in problem.shares if any(p.text == problem.facts[1] for p in s))
            assert sum(bool(re.fullmatch(pattern, p.text)) for p in share) == 1 + rivals


def test_kinds_and_closed_answers_are_balanced() -> None:
    assert Counter(p.kind for p in THOUSAND) == {"bridge": 600, "comparison": 200, "yes_no": 200}
    assert Counter(p.answers[0] for p in THOUSAND if p.kind == "yes_no") == {"yes": 100, "no": 100}
    mentioned = [
        p.question.index(p.answers[0]) < p.question.index(" or ")
        for p in THOUSAND
        if p.kind == "comparison"
    ]
    assert sum(mentioned) == 100
    near_first = sum(p.facts[0] in {q.text for q in p.shares[0]} for p in THOUSAND)
    assert 430 < near_first < 570


def test_one_year_says_little_about_which_is_first() -> None:
    facts = [
        (int(re.findall(r"\d{4}", fact)[0]), p.answers[0] in fact)
        for p in Fictional(problems=5000).load().problems
        if p.kind == "comparison" and "first" in p.question
        for fact in p.facts
    ]
    middle = sorted(year for year, _ in facts)[len(facts) // 2]
    guessed = sum((year < middle) is first for year, first in facts)
    assert guessed / len(facts) < 0.62


def test_questions_are_unique_even_past_the_two_word_names() -> None:
    problems = Fictional(problems=9000).load().problems
    assert len({p.question for p in problems}) == len({p.id for p in problems}) == 9000


def test_a_problem_does_not_depend_on_how_many_there_are() -> None:
    assert Fictional(problems=17).load().problems == THOUSAND[:17]
    assert Fictional(problems=17, seed=1).load().problems != THOUSAND[:17]
    assert Fictional(problems=17, seed=1).load().problems[0].id == "fictional-1-0"


def test_the_generator_is_pinned_so_that_a_change_raises_its_version() -> None:
    first = THOUSAND[0]
    assert first.question == "In which town was the composer of The Grand Needle born?"
    assert first.answers == ("Lemon Junction",)
    assert Fictional().load().source == "generator:1 seed=42 distractors=2 rivals=0"


def test_worked_examples_name_nothing_of_this_world() -> None:
    examples = json.loads(template("examples_split_evidence.json"))
    told = {
        name
        for example in examples
        for share in example["shares"]
        for title, text in share
        for name in named(text)
    }
    assert told
    ours = {name for p in THOUSAND for share in p.shares for q in share for name in named(q.text)}
    assert not told & ours


@pytest.mark.parametrize("distractors", [0, 1, 4, len(ASIDES)])
def test_any_number_of_distractors_up_to_the_relations_there_are(distractors: int) -> None:
    problems = Fictional(problems=30, distractors=distractors).load().problems
    assert {len(share) for p in problems for share in p.shares} == {1 + distractors}
    full = Fictional(problems=10, distractors=len(ASIDES), rivals=len(ASIDES)).load()
    assert len(full.problems) == 10


@pytest.mark.parametrize(
    "settings",
    [
        {"problems": 0},
        {"distractors": -1},
        {"distractors": 99},
        {"rivals": 3},
        {"rivals": -1},
        {"answer": "long"},
    ],
)
def test_settings_out_of_range_are_refused_with_what_is_allowed(settings: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="allowed"):
        Fictional(**settings)  # type: ignore[arg-type]


def test_the_right_answer_scores_one_and_the_bare_link_does_not() -> None:
    problem = THOUSAND[0]
    assert Fictional().grade(problem, "Answer: Lemon Junction.").metrics["f1"] == 1
    assert Fictional().grade(problem, "Answer: Victor Elwood").metrics["f1"] == 0
