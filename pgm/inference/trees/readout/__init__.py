"""Reading best and drawn states off a tree that has been swept."""
