"""A patient on the monitor: what is wrong, why do we think so, what should be looked at next?

Left ventricular failure in the ALARM network (Beinlich et al. 1989). Each answer comes with its reasons.
"""

import matplotlib.pyplot as plt

import pgm

net = pgm.load_network("alarm")
target, state = "LVFAILURE", "TRUE"
findings = {"CVP": "LOW", "HRBP": "HIGH", "BP": "LOW"}

why = net.explain(target, findings, state=state)
print(why, "", why.story, "", sep="\n")

beside_the_bed = ["HISTORY", "PCWP", "TPR", "HREKG", "HRSAT", "EXPCO2", "MINVOL", "PAP"]
told = net.informative(target, findings, over=beside_the_bed)
print(told, "")

tree = net.diagnosis(target, findings, over=beside_the_bed, sure=0.95, depth=3)
print(tree, "")

seen = findings | {"HISTORY": "TRUE"}
print(net.shapley(target, seen, state=state), "")
print("the answer would turn with", dict(net.turning(target, seen)[0].changes), "\n")

found = net.sensitivity(target, seen, state=state)
print("it rests most on", next(iter(found)).text)

figure, axes = plt.subplots(2, 2, figsize=(15, 10), layout="constrained")
net.explain(target, seen, state=state).plot(ax=axes[0, 0], title="heart failure, finding by finding")
told.plot(ax=axes[0, 1])
tree.plot(ax=axes[1, 0])
found.plot(ax=axes[1, 1], count=6, title="the parameters that the answer depends on")
figure.savefig("diagnose.png", dpi=72)
