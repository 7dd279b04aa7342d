"""Two half-blind cameras, an ink meter and an old reader: what each says of a digit, fused by a network.

The cameras are classifiers that were trained on equal numbers of all digits; in use three quarters of the
digits are zeros and ones. So their probabilities are divided by the prior they were trained with, and the
network brings the one that holds. The ink meter is continuous, with a density for each digit; the old reader
gives a label: its confusion matrix is its table. Each is a node or an evidence; the network multiplies them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KernelDensity, NearestCentroid

import pgm

images, digits = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
order = rng.permutation(len(digits))
train, held, rest = np.split(order, [700, 1000])
halves = {"upper camera": slice(0, 32), "lower camera": slice(32, 64)}
cameras = {
    name: LogisticRegression(C=0.1, solver="newton-cholesky", class_weight="balanced").fit(
        images[train][:, half], digits[train]
    )
    for name, half in halves.items()
}
reader = NearestCentroid().fit(images[train][:, 8:24], digits[train])  # sees two lines, and says a label
ink = images.sum(axis=1)

prior = np.array([0.4, 0.35, *[0.25 / 8] * 8])
net = pgm.BayesianNetwork("a digit")
net.add("digit", prior, states=range(10))
for name in cameras:  # what each says is evidence on a node that repeats the digit
    net.add(name, np.eye(10), parents=["digit"], states=range(10))
kernels = {d: KernelDensity(bandwidth=12).fit(ink[train][digits[train] == d, None]) for d in range(10)}
net.add("ink", pgm.DensityCPD(kernels), parents=["digit"])
table = pgm.confusion_table(digits[held], reader.predict(images[held][:, 8:24]), smoothing=1)
net.add("reader", table, parents=["digit"])
print(net.cpd("ink"))

cases = rng.choice(
    rest, 2000, p=(w := prior[digits[rest]] / np.bincount(digits[rest])[digits[rest]]) / w.sum()
)
frame = {
    name: pgm.Likelihood.from_classifier(camera, images[cases][:, halves[name]])
    for name, camera in cameras.items()
}
frame |= {"ink": ink[cases], "reader": reader.predict(images[cases][:, 8:24])}

right = {"nothing": np.mean(digits[cases] == 0)}
for name in frame:
    right[name] = np.mean(net.predict({name: frame[name]}, "digit") == digits[cases])
right["all together"] = np.mean(net.predict(frame, "digit") == digits[cases])
trained_on = net.copy()
trained_on.set("digit", [0.1] * 10)  # as if all digits came equally often
right["the wrong prior"] = np.mean(trained_on.predict(frame, "digit") == digits[cases])
for name, share in right.items():
    print(f"{name:16} {share:.1%} right")

one = int(np.argmax(net.predict_proba(frame, "digit").max(axis=1) < 0.9))  # a case in doubt
seen = {name: column[one] for name, column in frame.items()}
figure, axes = plt.subplots(1, 6, figsize=(11, 2.4), layout="constrained", width_ratios=[1, *[1.3] * 5])
axes[0].imshow(images[cases[one]].reshape(8, 8), cmap="gray_r")
axes[0].axhline(3.5, color="#d55e00", lw=1)
axes[0].set(title=f"a {digits[cases[one]]}", xticks=[], yticks=[])
for ax, (name, given) in zip(
    axes[1:], [*((n, {n: seen[n]}) for n in seen), ("all together", seen)], strict=True
):
    shares = net.query("digit", given).values
    ax.bar(range(10), shares, color=["#0072b2" if d != digits[cases[one]] else "#009e73" for d in range(10)])
    ax.set(title=name, xticks=range(10), ylim=(0, 1), yticks=[0, 1])
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig("sensor_fusion.png")
print("\nWhat each says of a digit in doubt is in sensor_fusion.png")
