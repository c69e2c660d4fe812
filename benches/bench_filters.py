"""Hold SQL, Qdrant and plain Python to the same document sets over thousands of generated filters."""

import argparse
import json
import time

from hypothesis import HealthCheck, Phase, given, settings

from benches.filter_agreement import Case, cases, open_backends

EDGE_SHARE = 10
"""One example in so many also runs on the embedded engine, which makes a shard on disk for each."""


def main() -> None:
    """Run the examples and print JSON; a disagreement ends with the smallest failing case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--postgres", help="SQLAlchemy URL of a database that may be written to")
    given_arguments = parser.parse_args()
    ran = {"examples": 0, "found": 0, "edge": 0}
    start = time.perf_counter()
    with open_backends(edge=True, postgres_url=given_arguments.postgres) as backends:
        edge = backends.edge

        @settings(
            max_examples=given_arguments.examples,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
        )
        @given(case=cases())
        def agree(case: Case) -> None:
            backends.edge = edge if ran["examples"] % EDGE_SHARE == 0 else None
            ran["examples"] += 1
            ran["edge"] += backends.edge is not None
            ran["found"] += bool(backends.agree(case))

        agree()
    names = [engine.dialect.name for engine in backends.engines]
    seconds = round(time.perf_counter() - start, 1)
    print(json.dumps({**ran, "backends": [*names, "qdrant local", "qdrant edge"], "seconds": seconds}))


if __name__ == "__main__":
    main()
