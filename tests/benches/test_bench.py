"""The benchmark tells what it measured; its times are nobody's assertion."""

from benches.bench import percentiles, report


def test_percentiles_of_known_times() -> None:
    assert percentiles([float(number) for number in range(1, 102)]) == {"p50_ms": 51.0, "p95_ms": 96.0}


def test_the_report_names_the_machine_and_the_times() -> None:
    twins = {"questions": 3, "p50_ms": 41.25, "p95_ms": 80.0}
    head, _, line, *_ = report({"machine": "m", "date": "d", "twins": twins, "worked": []}).splitlines()
    assert head == "m, d"
    assert line == "twins over the sample, 3 questions: p50 41.2 ms, p95 80.0 ms"
