"""The weather behind a diary: a friend writes what he did each day, and some pages are missing.

A hidden Markov model learns from a year of the diary, in which the weather was never recorded; then it infers
the weather of one month and predicts the following days.
"""

import matplotlib.pyplot as plt

import pgm

truth = pgm.HMM(
    initial={"rainy": 0.6, "sunny": 0.4},
    transition={"rainy": {"rainy": 0.8, "sunny": 0.2}, "sunny": {"rainy": 0.1, "sunny": 0.9}},
    emission=pgm.Categorical([[0.1, 0.3, 0.6], [0.7, 0.2, 0.1]], symbols=["walk", "shop", "clean"]),
    states=["rainy", "sunny"],
    name="weather",
)

year = truth.sample(365, seed=1).observations.tolist()
for day in range(0, 365, 9):
    year[day] = None  # a page that is missing

learned = pgm.HMM(
    initial=[0.5, 0.5],
    transition=[[0.7, 0.3], [0.3, 0.7]],
    emission=pgm.Categorical([[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]], symbols=["walk", "shop", "clean"]),
    states=["rainy", "sunny"],
    name="weather, learned",
).fit(year)
print(learned)
print(f"\n{learned.fit_report}\n")

month = truth.sample(30, seed=2)
diary = month.observations.tolist()
diary[10:14] = [None] * 4
path = learned.decode(diary)
right = sum(a == b for a, b in zip(path.path, month.states.tolist(), strict=True))
print(f"weather of {right} of 30 days found, 4 of them without a page")
drawn = learned.sample(1, given=diary, seed=3)[0]
print(f"what these pages may have said: {', '.join(drawn.observations[10:14].tolist())}")
print("\nthe next three days:")
print(learned.forecast(diary, steps=3))

figure, (top, middle, below) = plt.subplots(
    3, 1, figsize=(7, 6.6), layout="constrained", height_ratios=[1.4, 1, 1]
)
learned.plot(ax=top)
learned.smooth(diary).plot(ax=middle, title="What the weather was, given the diary")
path.plot(ax=below)
figure.savefig("weather_hmm.png")
print("The month is in weather_hmm.png")
