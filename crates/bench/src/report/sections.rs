//! The sections of the page.

/// Name, title and description of each benchmark, in the order of the page.
pub const SECTIONS: &[(&str, &str, &str)] = &[
    (
        "host",
        "The host",
        "Start time and memory use of `butler serve`; the cost of storing an episode over HTTP beyond embedding it and one committed insert; the cost of HTTP, MCP and the token themselves; and the process of a hook from start to answer.",
    ),
    (
        "embed",
        "Embedding",
        "Our engine and candle 0.11 in turns. The ratio compares the shortest CPU times of all rounds on one thread, with the ratio of the medians in parentheses.",
    ),
    (
        "store",
        "Storing facts",
        "With 100k facts in the table. The insert is one committed row with its vector in the same table.",
    ),
    (
        "recall",
        "Recall",
        "The floor is the time to embed the query plus one `SELECT 1` on the same pool. Over HTTP the server itself measures the embedding, in every other call. A test asserts the number of statements through a single connection: search 2, recall 2, context 2.",
    ),
    (
        "context",
        "Session context",
        "`memory_context` over HTTP with a budget of 3000 tokens, compared with the same floor, and with a recall and a list on the same data: a tenant with one episode per ten facts and one rule per hundred.",
    ),
    (
        "clients",
        "Throughput by number of clients",
        "Concurrent clients call a tenant with 10k facts over HTTP; every text is new. The server, PostgreSQL, the model and the clients share the machine.",
    ),
    (
        "vector",
        "Vector search",
        "Compared with the exact answer. The vectors are mixtures of real sentence embeddings with noise.",
    ),
    (
        "locomo",
        "Retrieval quality (LoCoMo)",
        "`--data` names your own copy. One tenant per conversation, one episode per turn. R@k is the share of a question's evidence among the first k results.",
    ),
    (
        "quality",
        "Retrieval quality of all modes and tools",
        "Each set is stored through the real memory and asked in every search mode, by recall and by context. Mode `semantic` is plain cosine similarity; BM25 (k1 1.2, b 0.75, PostgreSQL's lexemes) is computed in the same run. In brackets: the 95 % interval of a bootstrap over the questions.",
    ),
    (
        "conflicts",
        "Duplicates and contradictions",
        "Pairs of statements, judged by themselves and by the conflicts that a real memory records after storing both; without an LLM. Then half of a memory is forgotten, and other words for all of it are stored.",
    ),
    ("resolve", "Resolving names", "`entity_resolve` over HTTP among 100k entities."),
    (
        "graph",
        "Relations around an entity",
        "`entity_neighbors` over HTTP among 100k relations of 20k entities, some of which have a hundred. At most 50 relations are returned unless the line says otherwise.",
    ),
    ("consolidate", "Consolidation and cleanup", "With a model that answers at once, in a tenant with 100k facts."),
    ("sweep", "The decay sweep", "100k facts, a tenth of which change their state."),
    (
        "time",
        "Asking about another time",
        "`valid_at` and `as_of` over HTTP, in a tenant with 10k keys of ten versions each, compared with the same call without them.",
    ),
    ("api", "The REST API", "Lists and details with 100k facts."),
    (
        "scale",
        "Scale",
        "1M facts of 1000 tenants, one of which has a fifth of them; 100k episodes and 10k rules; an event for each memory. Loaded with COPY; the vectors are mixtures of real sentence embeddings with noise. The small tenant (889 facts) is the same at every size, the large one grows with the table (2k, 20k, 200k facts). Growth is the ratio of the last column to the first.",
    ),
    (
        "peers",
        "Side by side",
        "The same work over each system's own interface with the same MiniLM vectors, one system after the other in one run. [bench/peers](../bench/peers/README.md) lists what is disabled in each system, and why.",
    ),
];
