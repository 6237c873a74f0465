"""Metrics for Prometheus, added up over all workers."""

import os

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"  # where the workers of one server share their metrics
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)

requests = Counter("recloak_requests_total", "Requests answered.", ["route", "method", "status"])
seconds = Histogram("recloak_request_seconds", "Time to answer.", ["route"], buckets=_BUCKETS)
limited = Counter("recloak_limited_total", "Requests refused for their token's rate.")
release = Gauge("recloak_release", "The related release that is served.", multiprocess_mode="mostrecent")
refresh_failures = Counter("recloak_history_failures_total", "Looks into the history that failed.")
token_failures = Counter("recloak_tokens_failures_total", "Looks into the token store that failed.")
cut = Counter("recloak_connections_cut_total", "Connections closed for their clients' doing.", ["reason"])


def exposition() -> tuple[bytes, str]:
    """Return the metrics in Prometheus' text format, and its media type."""
    if not os.environ.get(FOLDER_VARIABLE):
        return generate_latest(), CONTENT_TYPE_LATEST
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call,unused-ignore]
    return generate_latest(registry), CONTENT_TYPE_LATEST
