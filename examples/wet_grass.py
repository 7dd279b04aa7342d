"""Why is the grass wet? A first network: build it, query it, look at the plan, draw it."""

import pgm

net = pgm.BayesianNetwork("wet grass")
net.add("cloudy", 0.5)  # states False and True; the number is P(True)
net.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
net.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
net.add(
    "wet",
    {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10},
    parents=["rain", "sprinkler"],
)

seen = {"wet": True}
print("What we believe once the grass is wet:")
print(net.marginals(seen))

print("\nRain, if the sprinkler was on as well: it explains the wet grass away.")
print(net.query("rain", {"wet": True, "sprinkler": True}))

best = net.map(seen)
print("\nThe most probable explanation:")
print(best)
print(f"P(wet) = {net.probability(seen):.5f}, P(explanation | wet) = {best.probability:.6f}")

print("\nSeen and done are different: P(wet | sprinkler on)")
print(f"  when we see it on      {net.query('wet', {'sprinkler': True})[True]:.6f}")
print(f"  when we turn it on     {net.do({'sprinkler': True}).query('wet')[True]:.6f}")

print("\nWhat answering took:")
print(net.plan("rain", seen))

picture = net.plot(given=seen)
picture.figure.savefig("wet_grass.png")
print("\nThe network with its posteriors is in wet_grass.png")
