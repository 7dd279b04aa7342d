"""A linear-Gaussian sensor network: forty places in a row, few thermometers, one of them broken.

Each place is about as warm as the one before it; thermometers add noise. The model gives every place a mean
and a standard deviation, and says how surprising each reading is given all the others.
"""

import matplotlib.pyplot as plt
import numpy as np

import pgm

net = pgm.BayesianNetwork("corridor")
places = range(40)
net.add("t0", pgm.LinearGaussian(bias=20.0, sd=3.0))
for i in places[1:]:
    net.add(f"t{i}", pgm.LinearGaussian({f"t{i - 1}": 0.95}, bias=1.0, sd=0.6))  # pulled back to 20 degrees
for i in places:
    net.add(f"reading {i}", pgm.LinearGaussian({f"t{i}": 1.0}, sd=0.5))

truth = net.sample(1, seed=4)
at = [2, 5, 9, 14, 22, 25, 33, 37]
readings = {f"reading {i}": float(truth[f"reading {i}"][0]) for i in at}
readings["reading 14"] += 6.0  # the sun shines on this one

print("reading   seen   expected from the others")
for name, seen in readings.items():
    others = {other: value for other, value in readings.items() if other != name}
    p = net.query(name, others)
    sigmas = abs(seen - p.mean) / p.std
    print(f"{name:10} {seen:5.1f}   {p.mean:.1f} +- {p.std:.1f}{'   <- broken?' if sigmas > 4 else ''}")

good = {name: value for name, value in readings.items() if name != "reading 14"}
believed = net.marginals(good, targets=[f"t{i}" for i in places])
mean = np.array([believed[f"t{i}"].mean for i in places])
std = np.array([believed[f"t{i}"].std for i in places])
real = np.array([truth[f"t{i}"][0] for i in places])
held = np.sum(abs(real - mean) < 2 * std)
print(f"\ntrue temperature within two standard deviations: {held} of {len(mean)} places")

figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.fill_between(
    places, mean - 2 * std, mean + 2 * std, color="#56b4e9", alpha=0.4, lw=0, label="mean +- 2 sd"
)
ax.plot(places, mean, color="#0072b2")
ax.plot(places, real, color="black", lw=1, ls=":", label="truth")
ax.plot([i for i in at if i != 14], list(good.values()), "o", color="#0072b2", label="readings")
ax.plot(14, readings["reading 14"], "x", color="#d55e00", ms=9, mew=2, label="left out")
ax.set(xlabel="place", ylabel="temperature")
ax.legend(ncols=2, frameon=False)
ax.spines[["top", "right"]].set_visible(False)
figure.savefig("sensors.png")
print("The corridor is in sensors.png")
