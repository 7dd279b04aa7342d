"""What if we act: graphs with hidden causes, identification, effects, counterfactuals."""
