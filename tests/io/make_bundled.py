"""Writes pgm/data: `python -m tests.io.make_bundled FOLDER`, which has the published networks as .bif.gz.

Numbers carry over, files do not: what is written is our own JSON. tests/io/test_bundled.py compares.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pgm
from pgm.io import json
from tests.known import book

DATA = Path(__file__).parents[2] / "pgm" / "data"
WORDS = {"C": "cloudy", "R": "rain", "S": "sprinkler", "W": "wet"}
BOOK = "Alpaydin, Introduction to Machine Learning (MIT Press 2014)"
WORKED_OUT = "; its numbers are worked out from those in the text"

PUBLISHED = {
    "asia": "Lauritzen and Spiegelhalter, Local computations with probabilities on graphical structures and "
    "their application to expert systems. Journal of the Royal Statistical Society B 50 (1988) 157-224",
    "cancer": "Korb and Nicholson, Bayesian Artificial Intelligence (2nd ed., CRC Press 2010), section 2.2",
    "earthquake": "Korb and Nicholson, Bayesian Artificial Intelligence (2nd ed., CRC Press 2010), "
    "section 2.5; after Pearl, Probabilistic Reasoning in Intelligent Systems (1988)",
    "survey": "Scutari and Denis, Bayesian Networks: with Examples in R (CRC Press 2014), chapter 1",
    "sachs": "Sachs, Perez, Pe'er, Lauffenburger and Nolan, Causal protein-signaling networks derived from "
    "multiparameter single-cell data. Science 308 (2005) 523-529",
    "child": "Spiegelhalter and Cowell, Learning in probabilistic expert systems. Bayesian Statistics 4 "
    "(1992) 447-466",
    "insurance": "Binder, Koller, Russell and Kanazawa, Adaptive probabilistic networks with hidden "
    "variables. Machine Learning 29 (1997) 213-244",
    "alarm": "Beinlich, Suermondt, Chavez and Cooper, The ALARM monitoring system. Second European "
    "Conference on Artificial Intelligence in Medicine (1989) 247-256",
}


def from_books() -> Iterator[tuple[str, pgm.BayesianNetwork, str]]:
    """Yield the networks of books: what each is called, the network, its source."""
    figures = [book.fig_14_1, book.fig_14_2, book.fig_14_3, book.fig_14_4, book.fig_14_5]
    for number, figure in enumerate(figures, 1):
        net = figure()
        words = {letter: word for letter, word in WORDS.items() if letter in net}
        about = f"{BOOK}, figure 14.{number}{WORKED_OUT if number > 1 else ''}"
        yield f"rain_14_{number}", net.rename(words), about
    yield (
        "five_nodes",
        book.five_nodes(),
        "Lecture notes, Machine Learning (SIT1305), unit on Bayesian networks",
    )
    baby = book.baby_at_home().rename({"H": "baby"})
    yield "baby_at_home", baby, f"{BOOK}, section 14.1: a hidden common cause; the numbers are ours"
    family = {"F": "father", "M": "mother", "K1": "first child", "K2": "second child"}
    about = "Mendel's rules for a recessive allele of frequency 0.1, in a family of four"
    yield "pedigree", book.pedigree().rename(family), about


def diagrams() -> Iterator[tuple[str, pgm.InfluenceDiagram, str]]:
    """Yield the influence diagrams: what each is called, the diagram, its source."""
    yield "reject_14_14", book.fig_14_14(), f"{BOOK}, figure 14.14; the numbers are ours"
    yield "sprinkler_14_8", book.sprinkler(), f"{BOOK}, section 14.8, on figure 14.4; the utilities are ours"
    yield "tiger_18_7", book.tiger(), f"{BOOK}, section 18.7.2: a tiger behind one of two doors"
    about = "Raiffa, Decision Analysis (Addison-Wesley 1968); in thousands of dollars"
    yield "oil_wildcatter", book.oil_wildcatter(), about


def published(folder: Path) -> Iterator[tuple[str, pgm.BayesianNetwork, str]]:
    """Yield the published networks, those of bnlearn's repository."""
    for name, about in PUBLISHED.items():
        net = pgm.read(folder / f"{name}.bif.gz")
        assert isinstance(net, pgm.BayesianNetwork)
        yield name, net, about


def main(folder: Path) -> None:
    """Write all files."""
    for name, net, about in [*from_books(), *diagrams(), *published(folder)]:
        net.name = name.replace("_", " ") if not net.name else net.name
        (DATA / f"{name}.json").write_text(json.write(net, expand=False, about=about), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
