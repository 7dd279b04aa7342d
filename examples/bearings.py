"""Where is a boat of which two lighthouses see only the direction, now and then, and one not for a while?"""

import matplotlib.pyplot as plt
import numpy as np

import pgm

LIGHTHOUSES = np.array([[0.0, 0.0], [10.0, 2.0]])


def sail(x, gap):
    """The place and the velocity after a while; x[0] may be an array of many states."""
    return [x[0] + gap * x[2], x[1] + gap * x[3], x[2], x[3]]


def bearings(x):
    """The directions in which both lighthouses see it."""
    return [np.arctan2(x[1] - north, x[0] - east) for east, north in LIGHTHOUSES]


def noise(gap):
    """What a while of white acceleration adds."""
    one = 0.05 * np.array([[gap**3 / 3, gap**2 / 2], [gap**2 / 2, gap]])
    return np.kron(one, np.eye(2))


boat = pgm.NonlinearDynamicalSystem(
    sail,
    bearings,
    Q=noise,
    R=[0.03**2, 0.03**2],
    mean=[5.0, 8.0, 0.0, -1.0],
    covariance=[4.0, 4.0, 0.5, 0.5],
    periods={"west": 2 * np.pi, "east": 2 * np.pi},  # bearings jump from pi to -pi
    states=["x", "y", "vx", "vy"],
    observations=["west", "east"],
)
times = np.cumsum(np.random.default_rng(4).uniform(0.1, 0.6, size=60))  # not every minute
drawn = boat.sample(60, times=times, seed=11)
seen = np.array(drawn.observations)
seen[20:35, 0] = np.nan  # fog in the west

print("Off the true place, root mean square, and the log density of what was seen:")
for engine in ("extended", "unscented", "particles"):
    filtered = boat.filter(seen, times=times, engine=engine)
    smoothed = boat.smooth(seen, times=times, engine=engine)
    off = [
        np.sqrt(((found.mean - drawn.states)[:, :2] ** 2).sum(axis=1).mean())
        for found in (filtered, smoothed)
    ]
    print(f"  {engine:<10} filtered {off[0]:.3f}, smoothed {off[1]:.3f}; {filtered.log_likelihood:8.3f}")
print("\nNone of these is exact; what the particles measured of themselves:")
print(smoothed.report)

ahead = boat.forecast(seen[:40], steps=3, times=times[:43], engine="unscented")
print("\nThe next bearings after forty, in radians:")
print(ahead.predicted)

figure, (sea, time) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for path in smoothed.paths[::20]:
    sea.plot(path[:, 0], path[:, 1], color="#7aa6d6", linewidth=0.4, alpha=0.5)
sea.plot(*drawn.states[:, :2].T, color="black", label="the boat")
sea.plot(*smoothed.mean[:, :2].T, color="#b35c00", linestyle="--", label="smoothed by particles")
sea.scatter(*LIGHTHOUSES.T, marker="^", color="black", label="lighthouses")
sea.legend(frameon=False)
filtered.plot(ax=time, names="x")
smoothed.plot(ax=time, names="x")
figure.savefig("bearings.png", dpi=110)
print("\nThe sea and one coordinate over time are in bearings.png")
