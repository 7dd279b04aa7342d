"""Approximate engines beside the exact one under rare evidence: which of them know how far off they are?

Three rare diseases, twelve tests that are seldom positive by chance, and a patient with nine positive ones.
Few samples from the prior look like that: an effective sample size of 8 means that an interval based on them
is worthless. Even a good interval misses one time in twenty, as that of Gibbs does here. Bounds never miss,
and are exact for a network this small. Belief propagation says nothing about its error.
"""

import itertools
import math
import warnings

import matplotlib.pyplot as plt

import pgm

net = pgm.BayesianNetwork("three diseases")
diseases = {"A": 0.001, "B": 0.0005, "C": 0.002}
for name, p in diseases.items():
    net.add(name, p)
for i in range(12):
    causes = {name: 0.9 - 0.05 * ((i + 3 * j) % 7) for j, name in enumerate("ABC") if (i + j) % 3}
    rows = {}
    for present in itertools.product([False, True], repeat=len(causes)):  # a noisy-OR, written as a table
        missed = [1 - p for p, there in zip(causes.values(), present, strict=True) if there]
        rows[present] = 1 - 0.98 * math.prod(missed)
    net.add(f"test {i}", rows, parents=list(causes))
seen = {f"test {i}": i not in (2, 7, 11) for i in range(12)}

exact = net.query("C", seen)[True]
print(f"P(what was seen) = {net.probability(seen):.3g}")
print(f"P(C | seen)      = {exact:.6f} exactly\n")

names = ["likelihood-weighting", "gibbs", "importance", "loopy", "bounds"]
answers = {}
warnings.simplefilter("ignore", pgm.ConvergenceWarning)  # the table below shows it instead
for name in names:
    p = answers[name] = net.query("C", seen, engine=name)
    print(f"{name:21} {p[True]:.6f}  off by {abs(p[True] - exact):.6f}", end="")
    if p.report.intervals is not None:
        low, high = p.report.intervals[p.states.index(True)]
        print(f"; its interval {'holds' if low <= exact <= high else 'misses'} the truth", end="")
    size = p.report.effective_sample_size
    print("" if size is None else f"; effective sample size {size:,.0f}")

figure, ax = plt.subplots(figsize=(6.5, 3.0), layout="constrained")
for i, p in enumerate(answers.values()):
    ax.plot(p[True], i, "o", color="#0072b2")
    if p.report.intervals is not None:
        ax.plot(p.report.intervals[p.states.index(True)], [i, i], color="#0072b2", lw=2)
ax.axvline(exact, color="#d55e00", lw=1, label="exact")
ax.set(
    yticks=range(len(names)), yticklabels=names, xlabel="P(C | seen), with what the engine says of its error"
)
ax.invert_yaxis()
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
figure.savefig("rare_evidence.png")
print("\nThe intervals are in rare_evidence.png")
