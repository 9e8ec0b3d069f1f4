"""Paper sogd on problems in closed form: windows under rapid drift, and the variance of products (21).

    python -m zoviz.papers.sogd --windows     # SOGD beside OAGD and SOBOW with windows under rapid drift, some minutes
    python -m zoviz.papers.sogd --variance    # products with shared directions and without, seconds

Without an option, both. Its theorems and figures, with verdicts, are measured by ``zoviz reproduce sogd``.
"""

from __future__ import annotations

import argparse

from zoviz.papers.sogd.regret import report_variance, report_windows


def main() -> None:
    """Print the tables that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--windows", action="store_true", help="windows under rapid drift")
    parser.add_argument("--variance", action="store_true", help="variance of products")
    parser.add_argument("--rounds", type=int, default=300, help="rounds of the comparison of windows")
    parser.add_argument("--replicas", type=int, default=20)
    options = parser.parse_args()
    everything = not (options.windows or options.variance)
    if options.windows or everything:
        report_windows(options.rounds, options.replicas)
    if options.variance or everything:
        report_variance(10 * options.replicas)


if __name__ == "__main__":
    main()
