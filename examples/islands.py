"""Islands in DNA: a hidden Markov model beside a neural network that looks at a window."""

import numpy as np
from sklearn.neural_network import MLPClassifier

import pgm

# Along a strand stretches rich in C and G alternate with others; no letter says for sure which it is.
bases = list("acgt")
truth = pgm.HMM(
    initial=[0.7, 0.3],
    transition=[[0.98, 0.02], [0.05, 0.95]],
    emission=pgm.Categorical([[0.3, 0.2, 0.2, 0.3], [0.15, 0.35, 0.35, 0.15]], symbols=bases),
    states=["sea", "island"],
)
learn, test = truth.sample(3000, sequences=2, seed=0)

hmm = pgm.HMM(states=["sea", "island"], emission=pgm.Categorical(symbols=bases))
hmm.fit(learn.observations, states=learn.states)
beliefs = hmm.smooth(test.observations)
print(hmm)
print("\nright, of 3,000 letters:")


def right(path) -> int:
    """How many letters are told rightly."""
    return int((np.array(path) == test.states).sum())


def windows(letters, width: int) -> np.ndarray:
    """Each letter with those around it, as ones and zeros."""
    one_hot = np.eye(4)[[bases.index(letter) for letter in letters]]
    padded = np.pad(one_hot, ((width // 2, width // 2), (0, 0)))
    return np.hstack([padded[i : i + len(letters)] for i in range(width)])


for width in (1, 5, 15):
    network = MLPClassifier([8], alpha=3.0, max_iter=400, early_stopping=True, random_state=0)
    network.fit(windows(learn.observations, width), learn.states)
    guesses = network.predict(windows(test.observations, width))
    weights = sum(layer.size for layer in (*network.coefs_, *network.intercepts_))
    print(f"a network of {width:2} letters: {right(guesses):,}, {weights} numbers learned")
print(f"a hidden Markov model:   {right(beliefs.path):,}, {hmm.n_parameters} numbers learned")
print("A window forgets what lies outside; a hidden state carries it along as far as it matters.")

shown = hmm.smooth(test.observations[:400])
ax = shown.plot(title="What is believed of 400 letters; white below: true islands", figsize=(8, 2.4))
islands = np.flatnonzero(test.states[:400] == "island")
ax.plot(islands, np.full(len(islands), 0.06), "w|", markersize=8, markeredgewidth=2)
ax.figure.savefig("islands.png", dpi=150, bbox_inches="tight")
