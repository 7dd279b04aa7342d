"""Few breakdowns and an experienced mechanic: an expert's estimates as a prior for data."""

import pgm

expert = pgm.BayesianNetwork("the mechanic's estimates")
expert.add("worn", 0.2)
expert.add("hot", {True: 0.6, False: 0.1}, parents=["worn"])
expert.add(
    "stops",
    {(True, True): 0.7, (True, False): 0.2, (False, True): 0.1, (False, False): 0.01},
    parents=["worn", "hot"],
)

# A year of records: in some nobody looked whether the part was worn.
kinds = {  # (worn, hot, stops): how often
    (False, False, False): 30,
    (False, True, False): 5,
    (True, True, True): 3,
    (True, False, False): 4,
    (None, False, False): 25,
    (None, True, True): 3,
}
records = {name: [kind[i] for kind in kinds] for i, name in enumerate(["worn", "hot", "stops"])}
counts = list(kinds.values())

alone = pgm.BayesianNetwork(edges=expert.edges).fit(records, weights=counts)
both = pgm.BayesianNetwork(edges=expert.edges)
both.fit(records, weights=counts, prior=pgm.priors.Expert(expert, rows=40))

print("P(stops | hot), by")
for said, net in (("the mechanic", expert), ("the records alone", alone), ("both", both)):
    print(f"  {said:18} {net.query('stops', {'hot': True})[True]:.3f}")
print(f"\n{both.posterior('stops')}")

# How sure is the most important number: does it stop when the part is worn and hot?
belief = both.posterior("stops")[True, True]
low, high = belief.interval(0.9)
print(f"\nworn and hot: stops with {belief.mean[1]:.2f}, between {low[1]:.2f} and {high[1]:.2f} (90 %)")

ax = both.posterior("stops").plot(title="P(stops | worn, hot) after a year")
ax.figure.savefig("expert_and_data.png")
