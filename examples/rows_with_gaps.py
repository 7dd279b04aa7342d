"""Classify the rows of a frame with missing cells, which are summed out rather than filled in.

The frame is drawn from the very network that classifies it, so this shows what gaps cost and says nothing
about a misspecified network.
"""

import matplotlib.pyplot as plt
import numpy as np

import pgm

rng = np.random.default_rng(1)
net = pgm.BayesianNetwork("machine")
net.add("state", {"good": 0.6, "worn": 0.3, "failing": 0.1}, states=["good", "worn", "failing"])
for i in range(10):  # ten signals; a signal also depends on the one before it
    low, mid, high = np.sort(rng.uniform(0.05, 0.95, 3))
    table = {("good", False): low, ("worn", False): mid, ("failing", False): high}
    table |= {(state, True): p + 0.4 * (1 - p) for (state, _), p in table.items()}
    before = f"signal {i - 1}" if i else None
    if before is None:
        table = {state: p for (state, on), p in table.items() if not on}
    net.add(f"signal {i}", table, parents=["state", before] if before else ["state"])

frame = net.sample(20_000, seed=0)
truth, signals = frame["state"], [name for name in frame if name != "state"]
shares = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
right, whole = [], []
for share in shares:
    gaps = rng.random((len(signals), len(truth))) < share
    holes = {name: np.where(gap, None, frame[name]) for name, gap in zip(signals, gaps, strict=True)}
    guess = net.predict(holes, "state")
    right.append(np.mean(guess == truth))
    whole.append(np.mean(~gaps.any(axis=0)))
    print(f"{share:4.0%} of the cells missing: {right[-1]:.1%} of rows right; {whole[-1]:6.1%} have no gap")

claim = net.predict_proba(holes, "state").max(axis=1)  # of the last share
bold = claim > 0.8
print(f"\nOf the rows with {share:.0%} missing {bold.mean():.1%} are claimed with more than 80 %,", end=" ")
print(f"{claim[bold].mean():.1%} on average; {np.mean(guess[bold] == truth[bold]):.1%} of these are right.")

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(shares, right, "o-", color="#0072b2", label="rows classified right, gaps summed out")
ax.plot(shares, whole, "s--", color="#d55e00", label="rows without any gap")
ax.axhline(np.mean(truth == "good"), color="gray", lw=1, ls=":", label="always 'good'")
ax.set(xlabel="share of cells missing", ylabel="share of rows", ylim=(0, 1.02))
ax.legend(frameon=False, loc="center", bbox_to_anchor=(0.62, 0.36))
ax.spines[["top", "right"]].set_visible(False)
figure.savefig("rows_with_gaps.png")
print("The curves are in rows_with_gaps.png")
