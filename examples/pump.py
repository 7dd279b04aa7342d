"""A pump that wears: a dynamic network learns from its log, says how worn it is, and when it will fail.

Wear grows from day to day and is never measured; heat comes and goes. What is seen are a vibration sensor,
whose readings are often missing, and an alarm that either may set off. A window of the last readings is
compared with the whole past, which a network in steps does not forget.
"""

import matplotlib.pyplot as plt
import numpy as np

import pgm

STATES = ["new", "worn", "failing"]


def pump(stay: float, hum: float) -> pgm.DynamicBayesianNetwork:
    """A pump whose wear stays for a day with this probability, and whose hum differs so much by wear."""
    dbn = pgm.DynamicBayesianNetwork("pump")
    wear = {"new": [stay, 1 - stay, 0], "worn": [0, stay, 1 - stay], "failing": [0, 0, 1]}
    dbn.add("wear", wear, parents=["wear[-1]"], initial=[1, 0, 0], states=STATES)
    dbn.add("hot", {True: 0.7, False: 0.1}, parents=["hot[-1]"], initial=0.2)
    means = {state: pgm.Gaussian(1.0 + i * hum, sd=1.5) for i, state in enumerate(STATES)}
    dbn.add("vibration", means, parents=["wear"])
    rows = {("failing", True): 0.95, ("failing", False): 0.6, (..., True): 0.3, (..., False): 0.05}
    table = {(w, h): rows.get((w, h), rows[..., h]) for w in STATES for h in (True, False)}
    dbn.add("alarm", table, parents=["wear", "hot"])
    return dbn


def log(model: pgm.DynamicBayesianNetwork, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """What was written down in a hundred days, a third of the readings missing, and how worn the pump was."""
    drawn = model.sample(100, seed=seed)
    vibration = drawn["vibration"].copy()
    vibration[np.random.default_rng(seed).random(100) < 0.33] = np.nan
    return {"vibration": vibration, "alarm": drawn["alarm"], "hot": drawn["hot"]}, drawn["wear"]


truth = pump(stay=0.985, hum=1.0)
print(truth, "\n")
learned = pump(stay=0.9, hum=0.5).fit([log(truth, seed)[0] for seed in range(20)], fixed=["wear[0]"])
print(learned.cpd("wear"), "\n")
print(learned.fit_report, "\n")

right = {"whole past": 0, "last 5 days": 0}
for seed in range(100, 140):
    seen, wear = log(truth, seed)
    believed = learned.filter(seen).marginal("wear").values[-1]
    window = {name: column[-5:] for name, column in seen.items()}
    uniform = learned.copy()
    uniform.set("wear", initial=[1 / 3] * 3)
    glance = uniform.filter(window).marginal("wear").values[-1]
    right["whole past"] += STATES[believed.argmax()] == wear[-1]
    right["last 5 days"] += STATES[glance.argmax()] == wear[-1]
print(f"wear found on the last day of 40 logs: {right}")

seen, wear = log(truth, 108)
today = {name: column[:60] for name, column in seen.items()}
ahead = learned.forecast(today, steps=30).marginal("wear").values[:, 2]
print(f"failing in 10, 20, 30 days: {ahead[9]:.3f}, {ahead[19]:.3f}, {ahead[29]:.3f}")

figure, (top, middle, below) = plt.subplots(
    3, 1, figsize=(7, 7.4), layout="constrained", height_ratios=[2.2, 1, 1]
)
learned.plot(ax=top)
learned.smooth(seen).marginal("wear").plot(ax=middle, title="How worn it was, given the whole log")
learned.map(seen).path("wear").plot(ax=below)
figure.savefig("pump.png")
print("The log is in pump.png")
