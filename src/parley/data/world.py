"""The invented world of `parley.data.fiction`: its words, and what can be said and asked with them.

The words of one list stand in no other, and in no sentence, so that a name is never mistaken.
"""

from __future__ import annotations

from dataclasses import dataclass


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ADJECTIVES = _words(
    "Silver Golden Crimson Quiet Hidden Broken Distant Gentle Ancient Lonely Restless Velvet "
    "Wooden Copper Iron Ivory Scarlet Violet Purple Yellow Orange Blue White Black Gray Bright "
    "Pale Dark Wild Tall Little Grand Royal Secret Sleeping Dancing Singing Flying Falling Rising "
    "Wandering Waiting Smiling Laughing Frozen Burning Shining Striped Forgotten Crooked Hungry "
    "Seventh Northern Southern Eastern Western Humble Proud Brave Clever Curious Faithful Dusty "
    "Misty"
)
NOUNS = _words(
    "Candle Mirror Garden Window Door Tower Castle Ladder Basket Bottle Button Carpet Clock "
    "Compass Crown Curtain Drum Feather Fiddle Flower Forest Fountain Hammer Horse Island Kettle "
    "Key Kite Lamp Leaf Letter Lion Mountain Needle Ocean Owl Parade Pearl Pillow Piano Planet "
    "Rabbit Raven Ribbon Ring River Sail Shadow Shell Ship Spoon Star Storm Summer Sword Tiger "
    "Train Tree Trumpet Valley Wagon Whale Wheel Lantern"
)
FIRST_NAMES = _words(
    "Clara Robert Alice Thomas Emma Henry Sarah George Anna Walter Julia Arthur Nora Samuel Ruth "
    "Daniel Margaret Frank Susan Albert Edith Charles Lucy David Ellen Joseph Irene Philip Jane "
    "Victor Louise Martin Grace Leonard Diana Hugo Sophie Adam Rachel Benjamin Monica Stephen "
    "Harriet Gilbert Paula Andrew Teresa Conrad Vera Patrick Judith Raymond Sylvia Eugene Kate "
    "Douglas Miriam Gordon Esther Nathan Agnes Vincent Bertha Ralph"
)
SURNAMES = _words(
    "Whitfield Barlow Carver Dalton Ellison Fletcher Grantham Hadley Irving Jennings Kendall "
    "Lambert Merton Norwood Osborne Prescott Quincy Radcliffe Sheldon Thornton Underwood Vaughn "
    "Winslow Yardley Abbott Bradford Chandler Drummond Everett Farrow Goodwin Hartley Ingram "
    "Jarvis Kirby Lockwood Mercer Nash Ogden Pembroke Randall Sawyer Templeton Upton Vickers "
    "Walcott Yates Atwood Blackwell Crawford Dunbar Elwood Foster Garrison Holloway Jessup Kemp "
    "Langley Maddox Newton Overton Parsons Rowland Stratton"
)
TOWNS = _words(
    "Maple Cedar Willow Birch Elm Pine Oak Juniper Hazel Clover Apple Cherry Plum Peach Fern "
    "Heather Holly Aspen Poplar Sycamore Chestnut Walnut Almond Olive Lemon Barley Wheat Honey"
)
PLACES = _words(
    "Ridge Falls Hill Grove Springs Point Bay Cove Heights Landing Crossing Corner Rock Beach "
    "Shore Port Mill Ford Gate Park Plains Glen Dale Lake Pond Bluff Canyon Junction"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A relation between two named things: how it is stated, referred to, and asked about."""

    subject: str
    object: str
    states: str
    refers: str = ""
    """The object, named by its subject: the first hop of a bridge."""
    asks: str = ""
    """The question for the object of what `refers` names: the second hop of a bridge."""
    same: str = ""
    """Whether two subjects share their object: a yes/no question."""


HOPS = (
    *(
        Hop(
            subject="work",
            object="person",
            states=f"{{s}} was {done} by {{o}}.",
            refers=f"the {maker} of {{s}}",
            same=f"Were {{a}} and {{b}} {done} by the same person?",
        )
        for done, maker in (
            ("painted", "painter"),
            ("written", "author"),
            ("composed", "composer"),
            ("directed", "director"),
            ("designed", "designer"),
        )
    ),
    Hop(
        subject="person",
        object="town",
        states="{s} was born in {o}.",
        refers="the town where {s} was born",
        asks="In which town was {ref} born?",
        same="Were {a} and {b} born in the same town?",
    ),
    Hop(
        subject="person",
        object="town",
        states="{s} lives in {o}.",
        refers="the town where {s} lives",
        asks="In which town does {ref} live?",
        same="Do {a} and {b} live in the same town?",
    ),
    Hop(
        subject="person",
        object="person",
        states="{s} was taught by {o}.",
        refers="the teacher of {s}",
        asks="Who taught {ref}?",
        same="Were {a} and {b} taught by the same person?",
    ),
    Hop(
        subject="person",
        object="person",
        states="{s} is married to {o}.",
        asks="To whom is {ref} married?",
    ),
    Hop(
        subject="town", object="person", states="{s} was founded by {o}.", asks="Who founded {ref}?"
    ),
    Hop(
        subject="town",
        object="person",
        states="The mayor of {s} is {o}.",
        asks="Who is the mayor of {ref}?",
    ),
)
COMPARISONS = (
    ("work", "{s} opened in {n}.", "Which opened first, {a} or {b}?", -1),
    ("work", "{s} was published in {n}.", "Which was published later, {a} or {b}?", 1),
    ("person", "{s} was born in {n}.", "Who was born first, {a} or {b}?", -1),
    ("person", "{s} retired in {n}.", "Who retired later, {a} or {b}?", 1),
)
"""Subject, statement, question, and whether the smaller (-1) or the larger number answers it."""
ASIDES = (
    ("person", "{s} plays the harp."),
    ("person", "{s} studied chemistry."),
    ("person", "{s} keeps three goats."),
    ("person", "{s} collects coins."),
    ("person", "{s} speaks five languages."),
    ("town", "{s} is known for its cheese."),
    ("town", "{s} has two churches."),
    ("town", "{s} has a large library."),
    ("work", "{s} won a prize."),
    ("work", "{s} was damaged by fire."),
    ("work", "{s} is kept in a museum."),
)
"""What distractors say: relations that no question asks for."""

NAMES = {
    "work": (ADJECTIVES, NOUNS),
    "person": (FIRST_NAMES, SURNAMES),
    "town": (TOWNS, PLACES),
}
"""The two words of a name, by the kind of thing it names; works begin with "The"."""
