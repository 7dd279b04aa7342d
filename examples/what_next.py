"""Troubleshooting: the printer does not print. What should be looked at next?

An observation is worth what it is expected to tell about the fault: the mutual information between the two
given all the evidence so far, which is read off their joint distribution.
"""

import matplotlib.pyplot as plt
import numpy as np

import pgm

net = pgm.BayesianNetwork("printer")
faults = {"paper": 0.30, "cable": 0.15, "driver": 0.25, "toner": 0.20, "mainboard": 0.10}
net.add("fault", faults, states=list(faults))
rows = {  # P(yes | fault)
    "paper light is on": {"paper": 0.95, ...: 0.05},
    "computer sees it": {"cable": 0.05, "mainboard": 0.30, ...: 0.95},
    "test page prints": {"driver": 0.95, "cable": 0.90, ...: 0.05},
    "page is pale": {"toner": 0.70, ...: 0.02},
    "it smells burnt": {"mainboard": 0.30, ...: 0.001},
}
for look, row in rows.items():
    net.add(look, {fault: {"no": 1 - p, "yes": p} for fault, p in row.items()}, parents=["fault"])


def information(look, given):
    """How many bits about the fault an observation is expected to yield."""
    joint = net.query(["fault", look], given).values
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return float(np.sum(joint * np.log2(joint / apart)))  # no entry here is zero


truth = dict.fromkeys(rows, "no") | {"computer sees it": "yes", "page is pale": "yes"}
given, history = {}, []
while net.query("fault", given)[net.query("fault", given).mode()] < 0.9 and len(given) < len(rows):
    worth = {look: information(look, given) for look in rows if look not in given}
    best = max(worth, key=worth.get)
    history.append(worth)
    given[best] = truth[best]
    p = net.query("fault", given)
    now = f"{p.mode()}: {p[p.mode()]:.2f}"
    print(f"look: {best:18} (worth {worth[best]:.2f} bits) -> {truth[best]:3}  now {now}")

figure, axes = plt.subplots(
    1, len(history), figsize=(3.1 * len(history), 2.6), sharey=True, layout="constrained"
)
for number, (ax, worth) in enumerate(zip(np.atleast_1d(axes), history, strict=True), start=1):
    values = [worth.get(look, 0.0) for look in rows]
    ax.barh(list(rows), values, color=["#d55e00" if v == max(values) else "#0072b2" for v in values])
    ax.set(title=f"look {number}", xlabel="bits about the fault", xlim=(0, 0.9))
    ax.spines[["top", "right"]].set_visible(False)
ax.invert_yaxis()
figure.savefig("what_next.png")
print("What each look was worth is in what_next.png")
