"""Questions about answers: why this one, what to look at next, what if the numbers are off."""
