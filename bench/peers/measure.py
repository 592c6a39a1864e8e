"""The measurements: fill, store, search, and the time until a stored memory is found."""

import time
from concurrent.futures import ThreadPoolExecutor

from common.figures import quantile

CLIENTS = 4
# stored one after the other at the end of a fill, to measure the latency at that size
TIMED_STORES = 200
LAGS = 10
# a memory that is not found within this time counts as never found
LAG_LIMIT_S = 10.0


def timed(work, *arguments):
    began = time.perf_counter()
    result = work(*arguments)
    return (time.perf_counter() - began) * 1000, result


def fill(system, work, first, last, seconds):
    """Stores with several clients until the time is over. Returns the number of memories and the stores per second."""
    if first == 0 and last > 0:
        # the first one alone, because it creates tables, indexes and caches
        system.store(work.text(0))
        first = 1
    began, end = time.monotonic(), time.monotonic() + seconds

    def store(number):
        if time.monotonic() > end:
            return False
        system.store(work.text(number))
        return True

    with ThreadPoolExecutor(CLIENTS) as clients:
        stored = sum(clients.map(store, range(first, last)))
    return first + stored, stored / (time.monotonic() - began)


def size(system, work, first, wanted, questions, seconds):
    """Measures a system with `wanted` memories, or with as many as it could store in time."""
    filled, a_second = fill(system, work, first, max(first, wanted - TIMED_STORES), seconds)
    last = min(wanted, filled + TIMED_STORES)
    stores = [timed(system.store, work.text(number))[0] for number in range(filled, last)]
    system.search(work.questions(last, 1)[0][0], 10)
    searches, found = [], []
    for question, answers in work.questions(last, questions):
        took, texts = timed(system.search, question, 10)
        searches.append(took)
        found.append(len(answers & set(texts)) / len(answers))
    return {
        "memories": last, "stores_a_second": a_second, "store_p50": quantile(stores, 0.5),
        "store_p95": quantile(stores, 0.95), "search_p50": quantile(searches, 0.5),
        "search_p95": quantile(searches, 0.95), "recall": sum(found) / len(found), "resident_mb": system.resident_mb(),
        **lag(system, work, last),
    }


def lag(system, work, stored):
    """The time from the acknowledgement of a store until a search for its text finds it."""
    lags, never = [], 0
    for number in range(LAGS):
        text = f"Note {stored}-{number}: {work.text(number)}"
        system.store(text)
        began = time.perf_counter()
        while text not in system.search(text, 10):
            if time.perf_counter() - began > LAG_LIMIT_S:
                never += 1
                break
        else:
            lags.append((time.perf_counter() - began) * 1000)
    return {"lag_p50": quantile(lags, 0.5), "lag_max": max(lags, default=float("nan")), "never_found": never}
