"""`python -m pgm`: the same as the command `pgm`."""

from pgm.cli import run

if __name__ == "__main__":
    run()
