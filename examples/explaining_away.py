"""Explaining away: news of an earthquake makes a burglary less probable, though neither causes the other."""

import matplotlib.pyplot as plt

import pgm

net = pgm.BayesianNetwork(
    "the alarm"
)  # Pearl (1988), section 2.1.4; numbers as in Russell & Norvig, figure 14.2
net.add("burglary", 0.001)
net.add("earthquake", 0.002)
net.add(
    "alarm",
    {(True, True): 0.95, (True, False): 0.94, (False, True): 0.29, (False, False): 0.001},
    parents=["burglary", "earthquake"],
)
net.add("john", {True: 0.90, False: 0.05}, parents=["alarm"])
net.add("mary", {True: 0.70, False: 0.01}, parents=["alarm"])

steps = {
    "nothing yet": {},
    "John calls": {"john": True},
    "Mary calls too": {"john": True, "mary": True},
    "the alarm did ring": {"john": True, "mary": True, "alarm": True},
    "there was an earthquake": {"john": True, "mary": True, "alarm": True, "earthquake": True},
}
p = {said: net.query("burglary", given)[True] for said, given in steps.items()}
for said, value in p.items():
    print(f"{said:24} P(burglary) = {value:.6f}")

# The two causes are independent until their common effect, or one of its descendants, is observed.
for given in ([], ["alarm"], ["john"]):
    independent = net.independent("burglary", "earthquake", given=given)
    print(f"burglary and earthquake given {given}: {'independent' if independent else 'dependent'}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6), width_ratios=[3, 2], layout="constrained")
net.plot(ax=left)
left.set_title("")
right.barh(list(p), list(p.values()), color=["#0072b2"] * 4 + ["#d55e00"])
right.bar_label(right.containers[0], fmt="%.3f", padding=3)
right.invert_yaxis()
right.set(xlim=(0, 0.48), xlabel="P(burglary)")
right.spines[["top", "right"]].set_visible(False)
figure.savefig("explaining_away.png")
print("The bars are in explaining_away.png")
