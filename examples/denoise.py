"""Denoise a small black-and-white picture: pixels tend to agree with the data and with their neighbours."""

import matplotlib.pyplot as plt
import numpy as np

import pgm

PICTURE = """
..............................
..#########........##########.
..##########......############
..###########....#############
..####...#####..#####.....####
..####...#####..####..........
..############..####...#######
..###########...####...#######
..#########.....#####.....####
..####...........#############
..####............############
..####.............##########.
"""

clean = np.array([[int(c == "#") for c in line] for line in PICTURE.split()])
rng = np.random.default_rng(seed=0)
noisy = np.where(rng.random(clean.shape) < 0.1, 1 - clean, clean)

# unary[true, seen]: one pixel in ten arrives flipped. Agreeing neighbours weigh exp(coupling) times more.
grid = pgm.MarkovNetwork.grid(noisy, states=[0, 1], coupling=1.2, unary=[[0.9, 0.1], [0.1, 0.9]])
best = grid.map().to_array("pixel")
sure = grid.marginals()

for was, seen, now in zip(clean, noisy, best, strict=True):
    print("   ".join("".join(".#"[value] for value in row) for row in (was, seen, now)))
print(f"wrong pixels: {np.sum(noisy != clean)} seen, {np.sum(best != clean)} left")

row, column = min(np.ndindex(*clean.shape), key=lambda at: max(sure[f"pixel[{at[0]},{at[1]}]"].values))
print(f"least certain: row {row}, column {column}")
print(sure[f"pixel[{row},{column}]"])

doubt = [
    [1 - max(sure[f"pixel[{i},{j}]"].values) for j in range(clean.shape[1])] for i in range(clean.shape[0])
]
figure, axes = plt.subplots(2, 2, figsize=(7, 3.4), layout="constrained")
pictures = {"as it was": clean, "as it arrived": noisy, "most probable": best, "doubt": doubt}
for ax, (title, picture) in zip(axes.flat, pictures.items(), strict=True):
    ax.imshow(picture, cmap="gray_r" if title != "doubt" else "Oranges", interpolation="nearest")
    ax.set_title(title, fontsize=10)
    ax.set(xticks=[], yticks=[])
figure.savefig("denoise.png")
print("The pictures are in denoise.png")
