"""Salmon or sea bass: the same rows, several families of methods, and one of them in a network."""

import matplotlib.pyplot as plt
import numpy as np

import pgm
from pgm.adapters import (
    EditedNeighbours,
    LocalSmoother,
    LogisticDiscriminant,
    NearestNeighbours,
    ParzenDensity,
)
from pgm.evaluation import error_estimates, regions, roc

rng = np.random.default_rng(4)
fish = np.repeat(["bass", "salmon"], 200)
lightness = np.where(fish == "bass", rng.normal(6.0, 1.2, 400), rng.normal(3.5, 1.0, 400))
width = np.where(fish == "bass", rng.normal(18.0, 1.5, 400), rng.normal(15.5, 0.4 * lightness + 0.3))
rows = np.column_stack([lightness, width])
train, test = np.arange(400) % 2 == 0, np.arange(400) % 2 == 1

families = {
    "9 nearest rows": NearestNeighbours(9),
    "condensed rows": EditedNeighbours("condensing"),
    "line": LogisticDiscriminant(),
    "quadric": LogisticDiscriminant(quadratic=True),
}
for name, method in families.items():
    found = error_estimates(method, rows[train], fish[train], test=(rows[test], fish[test]), folds=5).test
    print(f"{name}: {found.rate:.3f} wrong, between {found.low:.3f} and {found.high:.3f}")

# Any of them may be a node. Densities with windows say p(lightness, width | fish); the season says more.
net = pgm.BayesianNetwork("fish")
net.add("spring", 0.25)
net.add("fish", {True: {"bass": 0.2, "salmon": 0.8}, False: {"bass": 0.6, "salmon": 0.4}}, parents=["spring"])
window = {name: ParzenDensity().fit(rows[train & (fish == name)]) for name in ("bass", "salmon")}
net.add(["lightness", "width"], pgm.DensityCPD(window), parents=["fish"])
one = {"lightness": 4.6, "width": 16.8}
for spring in (True, False):
    print(f"spring={spring}: P(salmon) = {net.query('fish', one | {'spring': spring})['salmon']:.3f}")

figure, axes = plt.subplots(2, 2, figsize=(10, 8), layout="constrained")
(left, right), (below, last) = axes
columns = {"lightness": rows[train, 0], "width": rows[train, 1]}
fitted = {name: method.fit(columns, fish[train]) for name, method in families.items()}
regions(fitted["quadric"], columns, fish[train], reject=0.2).plot(
    ax=left, title="regions of a quadric, with reject"
)
fitted["condensed rows"].plot(columns, fish[train], ax=right)
shares = {name: method.predict_proba(rows[test])[:, 1] for name, method in fitted.items()}
roc(fish[test], shares, positive="salmon").plot(ax=below, title="ROC curves")
smoother = LocalSmoother(neighbours=0.4).fit({"lightness": lightness[train]}, width[train])
smoother.plot(at=5.0, ax=last, title="width by lightness, and a window")
figure.savefig("fish.png", dpi=80)
