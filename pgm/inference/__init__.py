"""From factors to answers: reduce the question, plan it, run it, name the results."""
