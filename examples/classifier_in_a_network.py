"""A classifier reads handwritten digits; a network adds what else is known of a letter."""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import pgm

pixels, digits = load_digits(return_X_y=True)
names = [f"pixel{i}" for i in range(64)]
reader = LogisticRegression(max_iter=200, C=0.02).fit(pixels[:1000] / 16.0, digits[:1000])

# The reader is P(digit | pixels). Most codes of the near district end in 1, 2 or 7.
net = pgm.BayesianNetwork("postcode")
for name in names:
    net.add(name, pgm.Gaussian(0.5, sd=0.4))
net.add("digit", pgm.EstimatorCPD(reader, parents=names))
ends = {digit: 0.9 if digit in (1, 2, 7) else 0.2 for digit in range(10)}
net.add("near", ends, parents=["digit"])  # P(a letter with this digit is for the near district)
print(net.cpd("digit"), "\n")

rows = {name: pixels[1000:, i] / 16.0 for i, name in enumerate(names)}
truth = digits[1000:]
alone = net.predict(rows, "digit")
near = (truth[:, None] == [1, 2, 7]).any(axis=1)  # where the letters went
together = net.predict(rows | {"near": near}, "digit")
print(f"the reader alone: {(alone == truth).mean():.3f} right, in one call for {len(truth)} digits")
print(f"with the district: {(together == truth).mean():.3f} right")

# Where the two differ, the network says why.
one = int(((alone != truth) & (together == truth)).nonzero()[0][0])
row = {name: float(rows[name][one]) for name in names}
before, after = net.query("digit", row), net.query("digit", row | {"near": bool(near[one])})
print(
    f"a {truth[one]}, read as {before.mode()} ({before[before.mode()]:.2f}); with the district {after.mode()}"
)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=[1, 2.4])
left.imshow(pixels[1000 + one].reshape(8, 8), cmap="gray_r")
left.set_title(f"a {truth[one]}")
left.axis("off")
right.bar([d - 0.2 for d in range(10)], before.values, width=0.4, color="#0072b2", label="the reader alone")
right.bar([d + 0.2 for d in range(10)], after.values, width=0.4, color="#d55e00", label="and the district")
right.set(
    xticks=range(10),
    xlabel="digit",
    ylabel="probability",
    title="What the pixels say, and what else is known",
)
right.legend(frameon=False)
right.spines[["top", "right"]].set_visible(False)
figure.tight_layout()
figure.savefig("classifier_in_a_network.png", dpi=120)
