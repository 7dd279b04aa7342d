"""The oil wildcatter: test the ground first, or drill at once? What is the test worth?

The problem is Howard Raiffa's (Decision Analysis, 1968): a hole costs 70 (thousand dollars), and brings 120
or 270 if there is oil; seismic soundings cost 10 and show the structure below: none, open or closed.
"""

import pgm

d = pgm.InfluenceDiagram("oil wildcatter")
d.add_chance("oil", {"dry": 0.5, "wet": 0.3, "soaking": 0.2})
d.add_decision("test", ["no", "yes"])
d.add_chance(
    "report",
    {
        ("yes", "dry"): [0, 0.6, 0.3, 0.1],
        ("yes", "wet"): [0, 0.3, 0.4, 0.3],
        ("yes", "soaking"): [0, 0.1, 0.4, 0.5],
        ...: [1, 0, 0, 0],
    },
    parents=["test", "oil"],
    states=["no test", "none", "open", "closed"],
)
d.add_decision("drill", ["no", "yes"], observes=["report"])
profit = {("yes", "dry"): -70, ("yes", "wet"): 50, ("yes", "soaking"): 200, ...: 0}
d.add_utility("profit", profit, parents=["drill", "oil"])
d.add_utility("cost", {"yes": -10, "no": 0}, parents=["test"])

policy = d.solve()
print(f"test first: {policy.decide('test')}, expected profit {policy.expected_utility:.1f}")
for report in ("none", "open", "closed"):
    action = policy.decide("drill", {"test": "yes", "report": report})
    print(f"  the soundings show {report:6} -> drill: {action}")
print(f"without the test: {d.solve({'test': 'no'}).expected_utility:.1f}")
print(f"knowing the oil beforehand would be worth {d.value_of_information('oil', before='test'):.1f}")

# At which price is the test no longer worth its while?
prices = [0, 5, 10, 12.5, 15, 20]
values = []
for price in prices:
    d.set("cost", {"yes": -price, "no": 0})
    values.append(float(d.solve().expected_utility))
    print(f"at a price of {price:4}: test {d.solve().decide('test'):3}, worth {values[-1]:.1f}")
d.set("cost", {"yes": -10, "no": 0})

d.plot(given={}).figure.savefig("oil_wildcatter.png")
print("The picture is in oil_wildcatter.png")
