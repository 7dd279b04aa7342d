"""A tagger: which words are nouns, which are verbs? It learns from sentences whose tags somebody wrote down.

A word such as "can" or "fish" may be several parts of speech; the words around it decide. Picking the tag
that each word has most often does not look at them.
"""

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

import pgm

CORPUS = """
the/det fish/noun can/modal swim/verb
the/det old/adj man/noun can/modal fish/verb
they/pron can/modal open/verb the/det can/noun
she/pron can/modal watch/verb the/det fish/noun
he/pron lost/verb the/det watch/noun
they/pron fish/verb
a/det small/adj fish/noun swam/verb
we/pron watch/verb the/det old/adj ship/noun
the/det watch/noun can/modal wait/verb
she/pron will/modal swim/verb
the/det man/noun will/modal open/verb a/det can/noun
he/pron lost/verb a/det small/adj can/noun
we/pron will/modal ship/verb the/det watch/noun
they/pron read/verb the/det will/noun
"""
NEW = """
the/det man/noun can/modal ship/verb the/det fish/noun
they/pron will/modal fish/verb
she/pron lost/verb the/det will/noun
we/pron can/modal open/verb the/det old/adj can/noun
a/det walrus/noun can/modal yawn/verb
the/det sleepy/adj walrus/noun will/modal watch/verb the/det ship/noun
"""


def read(text: str) -> tuple[list[list[str]], list[list[str]]]:
    """Return the words of each sentence, and their tags."""
    pairs = [[token.split("/") for token in line.split()] for line in text.strip().splitlines()]
    return [[w for w, _ in line] for line in pairs], [[t for _, t in line] for line in pairs]


sentences, tags = read(CORPUS)
every = Counter(
    (word, tag) for s, ts in zip(sentences, tags, strict=True) for word, tag in zip(s, ts, strict=True)
)
kinds = sorted({tag for _, tag in every})
UNKNOWN = "?"
words = [*sorted({word for word, _ in every}), UNKNOWN]

# A tag goes with new words about as often as with words that were seen only once (Good 1953).
unseen = np.zeros((len(kinds), len(words)))
unseen[:, -1] = 0.5  # any tag may
for (_, tag), count in every.items():
    if count == 1:
        unseen[kinds.index(tag), -1] += 1

tagger = pgm.HMM(states=kinds, emission=pgm.Categorical(symbols=words), name="tagger")
tagger.fit(sentences, states=tags, prior={"initial": 0.1, "transition": 0.1, "emission": unseen})


def known(sentence: list[str]) -> list[str]:
    """Return the sentence with a sign in place of each word that is new."""
    return [word if word in words else UNKNOWN for word in sentence]


commonest = {word: max(kinds, key=lambda tag: every[word, tag]) for word in words}
commonest[UNKNOWN] = kinds[int(unseen[:, -1].argmax())]

new_sentences, truth = read(NEW)
right = {"hidden Markov model": 0, "commonest tag": 0}
for sentence, true in zip(new_sentences, truth, strict=True):
    found = {
        "hidden Markov model": tagger.decode(known(sentence)).path,
        "commonest tag": tuple(commonest[word] for word in known(sentence)),
    }
    for how, path in found.items():
        right[how] += sum(a == b for a, b in zip(path, true, strict=True))
    print(" ".join(f"{word}/{tag}" for word, tag in zip(sentence, found["hidden Markov model"], strict=True)))

total = sum(map(len, truth))
for how, count in right.items():
    print(f"{how}: {count} of {total} tags")

print("\nThe three best readings of the last sentence:")
for path in tagger.decode(known(new_sentences[-1]), k=3):
    print(f"  log P = {path.log_probability:.2f}  {' '.join(path.path)}")

figure, axes = plt.subplots(2, 1, figsize=(8, 5), layout="constrained")
for ax, sentence in zip(axes, [new_sentences[0], new_sentences[-1]], strict=True):
    tagger.smooth(known(sentence)).plot(ax=ax, title="")
    ax.set_xticks(range(len(sentence)), sentence)
    ax.set_xlabel("")
axes[0].set_title("What is believed of each word")
figure.savefig("tagger.png", dpi=100)
