"""Treat or not? A doctor sees a test, may order a better one, and wants to know what that is worth.

The numbers are invented.
"""

import matplotlib.pyplot as plt

import pgm

d = pgm.InfluenceDiagram("clinic")
d.add_chance("disease", 0.1)
d.add_chance("test", {True: 0.9, False: 0.2}, parents=["disease"])
d.add_decision("treat", states=[False, True], observes=["test"])
worth = {(True, True): 80, (True, False): -100, (False, True): -20, (False, False): 0}
d.add_utility("benefit", worth, parents=["disease", "treat"])

policy = d.solve()
print(policy["treat"])
never = d.evaluate({"treat": False})
print(f"expected utility {policy.expected_utility:.2f}; never to treat loses {never.loses:.2f}")

better = {True: {"positive": 0.99, "negative": 0.01}, False: {"positive": 0.05, "negative": 0.95}}
gain = d.value_of_information("disease", before="treat", accuracy=better)
print(f"a better test is worth up to {gain:.2f}")
print(f"to know for certain {d.value_of_information('disease', before='treat'):.2f}")

# How common must the disease be before a positive test means treatment?
rates = [0.01 * k for k in range(1, 31)]
gains = {False: [], True: []}
for rate in rates:
    d.set("disease", rate)
    worth_now = d.solve()["treat"].worth[1]  # after a positive test
    for action, value in zip((False, True), worth_now, strict=True):
        gains[action].append(float(value))
start = next(rate for rate, no, yes in zip(rates, gains[False], gains[True], strict=True) if yes > no)
print(f"after a positive test, treat from a rate of {start:.2f} on")

figure, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
ax.plot(rates, gains[True], color="#b35c00", label="treat")
ax.plot(rates, gains[False], "--", color="#274f8f", label="do not")
ax.set(xlabel="how common the disease is", ylabel="expected utility after a positive test")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
figure.savefig("treat_or_not.png")
print("The picture is in treat_or_not.png")
