//! What the page consists of.

/// The page's sections: a bench, its title, and what a reader must know of it.
pub const SECTIONS: &[(&str, &str, &str)] = &[
    (
        "host",
        "The host",
        "Starts and memory of `butler serve`, what storing an episode over HTTP costs beyond embedding it and one committed insert, what HTTP, MCP and the token cost by themselves, and a hook's process from its start to its answer.",
    ),
    (
        "embed",
        "Embedding",
        "Ours against candle 0.11, interleaved. The ratio is of the least CPU time of all rounds on one thread; the median is beside it.",
    ),
    (
        "store",
        "Storing facts",
        "At 100k facts. The insert is a single row with its vector into the same table, committed.",
    ),
    (
        "recall",
        "What a recall costs",
        "The floor is embedding the query and one `SELECT 1` on the same pool; over HTTP the embedding is timed by the server itself, in every other call. Statements, asserted by a test: search 1, recall 2, context 2.",
    ),
    (
        "context",
        "A session's block of memory",
        "`memory_context` over HTTP with 3000 tokens, against the same floor, and beside it a recall and a list on the same data: a tenant with an episode for ten facts and a rule for a hundred.",
    ),
    (
        "clients",
        "Throughput against clients",
        "Calls over HTTP by so many clients at once on a tenant with 10k facts; no text twice. The server, PostgreSQL, the model and the clients share the machine.",
    ),
    (
        "vector",
        "Vector search",
        "Against the exact answer. The vectors are mixtures of real sentence embeddings with noise.",
    ),
    (
        "locomo",
        "Retrieval quality (LoCoMo)",
        "`--data` names your own copy. One tenant a conversation, one episode a turn; the share of a question's evidence among the first k.",
    ),
    ("resolve", "Resolving names", "`entity_resolve` over HTTP among 100k entities."),
    ("consolidate", "Consolidation and cleanup", "With a model that answers at once, in a tenant with 100k facts."),
    ("sweep", "The decay sweep", "100k facts, a tenth of which change their state."),
    ("api", "The REST API", "Lists and details at 100k facts."),
    (
        "scale",
        "Scale",
        "1M facts over 1000 tenants, one of which holds a fifth; 100k episodes, 10k rules, an event for each. Loaded by COPY; the vectors are mixtures of real sentence embeddings with noise. The small tenant (889 facts) is the same at every size, the large one grows with the table (2k, 20k, 200k facts). Growth is the last column against the first.",
    ),
    (
        "peers",
        "Side by side",
        "The same work over each system's own interface, the same MiniLM vectors, one after the other in one run. What each is told to leave out, and why, is in [bench/peers](../bench/peers/README.md).",
    ),
];
