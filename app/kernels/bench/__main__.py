"""`python -m app.kernels.bench`: the verb `exhibit bench` alone, without what the server needs installed."""

import argparse
import sys

from app.kernels.bench import cli

if __name__ == "__main__":  # worker processes import this module too
    parser = argparse.ArgumentParser(prog="python -m app.kernels.bench", description=cli.DESCRIPTION)
    cli.add_arguments(parser)
    sys.exit(cli.main(parser.parse_args()))
