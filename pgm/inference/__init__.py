"""From factors to answers: reduce the question, plan it, run it, give the numbers their names."""
