"""Words from phones: small models are put together, and what stands in several words is learned once."""

import pgm

# Three phones, each heard as one of four sounds.
heard = ["p", "i", "t", "k"]
phones = {
    "P": pgm.part_of("P", pgm.Categorical([[0.7, 0.1, 0.1, 0.1]], heard), stay=0.3),
    "I": pgm.part_of("I", pgm.Categorical([[0.1, 0.7, 0.1, 0.1]], heard), stay=0.6),
    "T": pgm.part_of("T", pgm.Categorical([[0.1, 0.1, 0.6, 0.2]], heard), stay=0.3),
}
pit = pgm.sequence_of(phones["P"], phones["I"], phones["T"], name="pit")
tip = pgm.sequence_of(phones["T"], phones["I"], phones["P"], name="tip")
speech = pgm.grammar_of(
    [pit, tip], initial=[0.5, 0.5], transition=[[0.2, 0.5], [0.5, 0.2]]
)  # the rest is the end
print(speech)

sounds = list("piittiipk")
path = speech.decode(sounds)
print("\nheard:", " ".join(sounds))
print("words:", " ".join(word for word, *_ in path.path))
print("phones:", " ".join(phone for _, phone, *_ in path.path))

# The P of both words learns from both, without being told what was said.
spoken = [speech.sample(n, seed=n).observations.tolist() for n in range(6, 18)]
speech.fit(spoken, max_iter=30)
print("\nP is now heard as", dict(zip(heard, speech.emission["P"].p[0].round(2).tolist(), strict=True)))
print(speech.fit_report)

speech.unfinished().plot().figure.savefig("words_from_phones.png", dpi=150, bbox_inches="tight")
