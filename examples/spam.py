"""Mails with gaps, of mixed columns: which are spam, which to ask about, and what a mistake costs."""

import pgm

mails = {
    "link": [True, True, False, False, True, False, None, False, True, False],
    "tone": ["loud", "loud", "calm", "calm", None, "calm", "loud", "loud", "calm", "calm"],
    "length": [12.5, 30.25, 160.0, 98.5, 25.0, 210.75, 18.5, None, 40.5, 122.0],
    "kind": ["spam", "spam", "mail", "mail", "spam", "mail", "spam", "mail", "spam", "mail"],
}
told = pgm.NaiveBayes().fit(mails, "kind")
print(told, "\n")

new = {"link": [True, None, False], "tone": ["loud", "loud", "calm"], "length": [15.5, None, 61.25]}
for row, share in enumerate(told.predict_proba(new)[:, 1]):
    print(f"mail {row}: P(spam) = {share:.3f}")

# A mail that is thrown away costs twenty times what a spam that is kept does; asking someone costs 0.4.
print(told.decide(new, {("mail", "spam"): 20.0, ("spam", "mail"): 1.0}, reject=0.4))

# The classifier is a network, which also says what would help to know of the second mail.
print(told.to_network().informative("kind", {"tone": "loud"}))

ax = told.plot(columns="length", title="The length of mails and spam")
ax.figure.savefig("spam.png")
