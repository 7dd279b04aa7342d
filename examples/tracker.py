"""Tracking an object by radar through missing echoes: its position, the uncertainty, and a forecast."""

import matplotlib.pyplot as plt
import numpy as np

import pgm

rng = np.random.default_rng(3)
steps = 80
angle = np.linspace(0.0, 4.0, steps)
path = np.column_stack([60.0 * np.sin(0.8 * angle), 25.0 * angle - 4.0 * angle**2])  # unknown to the model
radar = path + rng.normal(scale=2.0, size=path.shape)
radar[25:38] = np.nan  # behind a hill
radar[rng.random(steps) < 0.1, 0] = np.nan  # one antenna fails at times

tracker = pgm.components.constant_velocity(2, Q=0.5, R=4.0)  # diffuse: nothing is known about the start
filtered, smoothed = tracker.filter(radar), tracker.smooth(radar)
ahead = tracker.forecast(radar, steps=10)


def off(found: np.ndarray, at: slice) -> float:
    """The root mean square distance from where it really was."""
    return float(np.sqrt(((found[at] - path[at]) ** 2).sum(axis=1).mean()))


gap = slice(25, 38)
seen = ~np.isnan(radar).any(axis=1)
print("Off the true path, root mean square, where both antennas work, and behind the hill:")
print(f"  radar     {np.sqrt(((radar - path)[seen] ** 2).sum(axis=1).mean()):5.2f}")
for name, found in (("filtered", filtered), ("smoothed", smoothed)):
    places = found.signal.mean
    both = np.sqrt(((places - path)[seen][2:] ** 2).sum(axis=1).mean())
    print(f"  {name}  {both:5.2f}  {off(places, gap):6.2f}")

inside = smoothed.signal.interval(0.95)
share = ((path >= inside.low) & (path <= inside.high)).mean()
print(f"\nOf the true coordinates {share:.0%} lie in the smoothed 95 % bands.")
print("\nIn ten steps:")
print(ahead.predicted.marginal(["y0", "y1"]))

figure, (plane, time) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
plane.plot(*path.T, color="0.6", label="where it was")
plane.scatter(*radar.T, s=12, facecolor="none", edgecolor="black", linewidth=0.7, label="radar")
plane.plot(*smoothed.signal.mean.T, color="#274f8f", label="smoothed")
plane.plot(*ahead.signal.mean.T, color="#b35c00", linestyle="--", label="forecast")
plane.set_aspect("equal")
plane.legend(frameon=False)
filtered.plot(ax=time, names="y0")
smoothed.plot(ax=time, names="y0")
ahead.plot(ax=time, names="y0")
figure.savefig("tracker.png", dpi=110)
print("\nThe path and one coordinate over time are in tracker.png")
