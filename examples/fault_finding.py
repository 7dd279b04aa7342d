"""Fault finding with noisy-OR: a pump has many possible faults, each of which may cause several symptoms.

The numbers are invented, as an engineer would estimate them: how often each fault occurs, and how often it
brings about each symptom. A noisy-OR needs nothing else.
"""

import matplotlib.pyplot as plt

import pgm

faults = {
    "worn bearing": 0.02,
    "bent shaft": 0.005,
    "clogged filter": 0.05,
    "leaking seal": 0.03,
    "air in the line": 0.04,
    "weak motor": 0.01,
    "loose bolts": 0.03,
    "broken sensor": 0.01,
}
symptoms = {  # fault: probability that it alone causes the symptom; leak: that something else does
    "vibration": ({"worn bearing": 0.8, "bent shaft": 0.9, "loose bolts": 0.7, "air in the line": 0.3}, 0.01),
    "noise": ({"worn bearing": 0.9, "air in the line": 0.6, "loose bolts": 0.4}, 0.02),
    "low pressure": ({"clogged filter": 0.8, "leaking seal": 0.5, "air in the line": 0.7, "weak motor": 0.6,
                      "broken sensor": 0.3}, 0.01),
    "overheating": ({"worn bearing": 0.5, "clogged filter": 0.3, "weak motor": 0.4, "bent shaft": 0.4}, 0.01),
    "oil on the floor": ({"leaking seal": 0.9, "worn bearing": 0.05}, 0.005),
}  # fmt: skip

net = pgm.BayesianNetwork("pump")
for fault, p in faults.items():
    net.add(fault, p)
for symptom, (causes, leak) in symptoms.items():
    net.add(symptom, pgm.NoisyOr(causes, leak=leak))

seen = {"vibration": True, "low pressure": True, "overheating": False, "oil on the floor": False}
after = net.marginals(seen, targets=list(faults))
print("vibration and low pressure, but neither heat nor oil:")
for fault in sorted(faults, key=lambda name: -after[name][True]):
    print(f"  {fault:16} {faults[fault]:.3f} -> {after[fault][True]:.3f}")

print("\nThe most probable explanations, several faults at once allowed:")
for best in net.k_best(seen, targets=list(faults), k=4):
    present = [fault for fault in faults if best[fault]]
    print(f"  {best.probability:.3f}  {', '.join(present) or 'no fault at all'}")

# A plant with 400 faults behind one alarm: a full table would have 2**400 rows.
plant = pgm.BayesianNetwork("plant")
for i in range(400):
    plant.add(f"fault {i}", 0.002)
plant.add("alarm", pgm.NoisyOr({f"fault {i}": 0.9 for i in range(400)}, leak=0.01))
print(f"\n400 faults: P(fault 0 | alarm) = {plant.query('fault 0', {'alarm': True})[True]:.6f}")

figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
names = sorted(faults, key=lambda name: after[name][True])
ax.barh(names, [after[name][True] for name in names], color="#0072b2", label="after the symptoms")
ax.plot([faults[name] for name in names], names, "|", color="black", markersize=14, label="before")
ax.set(xlabel="probability of the fault", xlim=(0, None))
ax.legend(loc="lower right", frameon=False)
ax.spines[["top", "right"]].set_visible(False)
figure.savefig("fault_finding.png")
print("The bars are in fault_finding.png")
