"""Who answers like that? Classes of people whom nobody labelled, found in a survey with gaps."""

import numpy as np

import pgm

# 1,200 people, of two kinds that the survey does not ask for; one answer in ten is missing.
rng = np.random.default_rng(5)
sporty = rng.random(1200) < 0.35
answers = {
    "smokes": np.where(rng.random(1200) < np.where(sporty, 0.05, 0.4), "yes", "no").astype(object),
    "runs": np.where(
        sporty, rng.choice(["never", "weekly", "daily"], 1200, p=[0.1, 0.6, 0.3]),
        rng.choice(["never", "weekly", "daily"], 1200, p=[0.75, 0.23, 0.02]),
    ).astype(object),
    "sleep": np.where(sporty, rng.normal(7.6, 0.7, 1200), rng.normal(6.7, 1.0, 1200)),
    "doctor": rng.poisson(np.where(sporty, 0.8, 2.5)).astype(float),
}  # fmt: skip
for column in answers.values():
    column[rng.random(1200) < 0.1] = None

kinds = pgm.Product(
    {
        "smokes": pgm.Categorical(symbols=["no", "yes"]),
        "runs": pgm.Categorical(symbols=["never", "weekly", "daily"]),
        "sleep": pgm.Gaussian(),
        "doctor": pgm.Poisson(),
    }
)
found = pgm.select_components(answers, emission=kinds, n_components=range(1, 5), starts=3, seed=0)
print(found)

classes = found.model
smoker = {"smokes": ["yes", "yes"], "runs": ["never", "daily"], "sleep": [6.0, None], "doctor": [3, None]}
print("\nP(class | answers) of two people:")
print(classes.predict_proba(smoker).round(3))

right = (classes.predict(answers) == classes.weights.argmin()) == sporty  # fewer are sporty
print(f"\ntold apart without one label: {right.mean():.0%}")

ax = classes.plot(title="What the classes are like")
ax.figure.savefig("survey.png", bbox_inches="tight")
