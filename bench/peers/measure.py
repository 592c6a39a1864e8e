"""The work itself: fill, store, search, and how long until what was stored is found."""

import time
from concurrent.futures import ThreadPoolExecutor

from common.figures import quantile

CLIENTS = 4
# stored one after the other at the end of a fill, for the latency of a store at that size
TIMED_STORES = 200
LAGS = 10
# a memory that is not found by then is counted as not found
LAG_LIMIT_S = 10.0


def timed(work, *arguments):
    began = time.perf_counter()
    result = work(*arguments)
    return (time.perf_counter() - began) * 1000, result


def fill(system, work, first, last, seconds):
    """Stores by several clients at once; as many as the time allows. Gives how many are there, and how many a second."""
    if first == 0 and last > 0:
        # alone, since it creates what is missing: tables, indexes, caches
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
    """All figures of a system that holds `wanted` memories, or as many as the time allowed."""
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
    """From the acknowledgement of a store until a search for its very words finds it."""
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
