"""Did the drug help, and would patients have recovered without it? Seeing, doing and what would have been.

The ill are treated more often, so the treated fare worse than the untreated; the drug helps all the same.
"""

import pgm

net = pgm.BayesianNetwork("trial")
net.add("ill", 0.4)
net.add("drug", {True: 0.8, False: 0.2}, parents="ill")
net.add("pulse", {True: 0.7, False: 0.3}, parents="drug")
recover = {  # by ill, drug, pulse
    (True, True, True): 0.45,
    (True, True, False): 0.60,
    (True, False, True): 0.20,
    (True, False, False): 0.35,
    (False, True, True): 0.85,
    (False, True, False): 0.95,
    (False, False, True): 0.70,
    (False, False, False): 0.80,
}
net.add("well", recover, parents=["ill", "drug", "pulse"])

seen = [net.query("well", {"drug": d})[True] for d in (False, True)]
done = [net.do({"drug": d}).query("well")[True] for d in (False, True)]
print(f"seen: {seen[0]:.3f} of the untreated get well, {seen[1]:.3f} of the treated")
print(f"done: {done[0]:.3f} would without the drug, {done[1]:.3f} with it\n")

print("what to adjust for, when rows are to tell this:")
print(net.adjustment_sets("drug", "well"), "\n")
print(net.causal_graph().identify("well", do="drug"), "\n")

effect = net.effect("drug", "well")
print(effect, "\n")

print("a patient who took the drug and got well: would she have without it?")
twin = net.counterfactual("well", {"drug": True, "well": True, "ill": True}, do={"drug": False})
print(twin, "\n")

rows = net.sample(5000, seed=0)
print("estimated from 5,000 rows:")
print(net.causal_graph().estimate(rows, "drug", "well", method="doubly-robust", seed=0), "\n")

hidden = net.causal_graph(hidden="ill")
try:
    hidden.identify("well", do="drug")
except pgm.NotIdentifiable as error:
    print(error)

effect.plot().get_figure().savefig("what_if.png")
print("\nthe effect along its paths is in what_if.png")
