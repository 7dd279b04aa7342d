"""Three questions that are easily confused: the most probable state, explanation and cause.

A spy is in one of three cities. Rome has one hotel, Paris four that are alike, Oslo three that differ.
"""

import matplotlib.pyplot as plt

import pgm

net = pgm.BayesianNetwork("spy")
net.add("city", {"Rome": 0.28, "Paris": 0.40, "Oslo": 0.32}, states=["Rome", "Paris", "Oslo"])
hotels = {
    "Rome": {"Ritz": 1.0},
    "Paris": {"Ritz": 0.25, "Plaza": 0.25, "Astra": 0.25, "Luna": 0.25},
    "Oslo": {"Ritz": 0.5, "Plaza": 0.3, "Astra": 0.2},
}
net.add("hotel", hotels, parents=["city"], states=["Ritz", "Plaza", "Astra", "Luna"])

city, hotel = net.query("city"), net.query("hotel")
print(f"most probable city by itself:   {city.mode()} ({city[city.mode()]:.2f})")
print(f"most probable hotel by itself:  {hotel.mode()} ({hotel[hotel.mode()]:.2f})")

best = net.map()
print(f"most probable city and hotel:   {best['city']}, {best['hotel']} ({best.probability:.2f})")
both = net.query(["city", "hotel"])
print(
    f"the two winners together:       {city.mode()}, {hotel.mode()} ({both[city.mode(), hotel.mode()]:.2f})"
)

# Marginal MAP: to which city should we send somebody, who will find the hotel once there?
cause = net.map(targets="city")
print(f"city, with the hotel summed out: {cause['city']} ({cause.probability:.2f})")
given = {"hotel": pgm.Not("Luna")}
print(f"... if it is not the Luna:       {net.map(given, targets='city')['city']}")

figure, ax = plt.subplots(figsize=(5.5, 3.0), layout="constrained")
left = [0.0] * 3
for name, colour in zip(hotel.states, ["#0072b2", "#56b4e9", "#009e73", "#e69f00"], strict=True):
    values = [both[place, name] for place in city.states]
    ax.barh(city.states, values, left=left, color=colour, edgecolor="white", label=name)
    left = [a + b for a, b in zip(left, values, strict=True)]
ax.invert_yaxis()
ax.set(xlabel="probability")
ax.legend(title="hotel", frameon=False, bbox_to_anchor=(1, 1), loc="upper left")
ax.spines[["top", "right"]].set_visible(False)
figure.savefig("marginal_map.png")
print("Cities and hotels are in marginal_map.png")
