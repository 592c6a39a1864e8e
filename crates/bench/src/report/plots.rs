//! The plots of the page.

use std::path::Path;

use super::{points, read};
use crate::svg::{Line, Plot};

/// A plot of a benchmark. `lines` pairs each series with its name in the plot.
struct PlotSpec {
    bench: &'static str,
    file: &'static str,
    title: &'static str,
    x: &'static str,
    y: &'static str,
    logarithmic: bool,
    lines: &'static [(&'static str, &'static str)],
}

const PLOTS: &[PlotSpec] = &[
    PlotSpec {
        bench: "context",
        file: "latency.svg",
        title: "Latency against size, one tenant",
        x: "facts in the tenant",
        y: "ms, p50 over HTTP",
        logarithmic: false,
        lines: &[
            ("memory_context, p50", "memory_context"),
            ("memory_recall, p50", "memory_recall"),
            ("floor, p50", "floor (embedding, SELECT 1)"),
            ("list of facts, p50", "list of facts"),
        ],
    },
    PlotSpec {
        bench: "clients",
        file: "throughput.svg",
        title: "Throughput against clients",
        x: "clients at once",
        y: "calls a second over HTTP",
        logarithmic: false,
        lines: &[("memory_store_fact, a second", "memory_store_fact"), ("memory_recall, a second", "memory_recall")],
    },
    PlotSpec {
        bench: "scale",
        file: "scale-large.svg",
        title: "The large tenant (a fifth of all facts)",
        x: "facts in the database",
        y: "ms, p50 over HTTP",
        logarithmic: true,
        lines: &[
            ("large tenant: memory_context, p50", "memory_context"),
            ("large tenant: memory_recall, p50", "memory_recall"),
            ("large tenant: memory_store_fact, p50", "memory_store_fact"),
            ("large tenant: memory_stats, p50", "memory_stats"),
            ("large tenant: GET facts, newest, p50", "list of facts"),
            ("large tenant: floor (embedding, SELECT 1), p50", "floor"),
        ],
    },
    PlotSpec {
        bench: "scale",
        file: "scale-small.svg",
        title: "A small tenant (889 facts) among more and more others",
        x: "facts in the database",
        y: "ms, p50 over HTTP",
        logarithmic: true,
        lines: &[
            ("small tenant: memory_context, p50", "memory_context"),
            ("small tenant: memory_recall, p50", "memory_recall"),
            ("small tenant: memory_store_fact, p50", "memory_store_fact"),
            ("small tenant: memory_stats, p50", "memory_stats"),
            ("small tenant: GET facts, newest, p50", "list of facts"),
            ("small tenant: floor (embedding, SELECT 1), p50", "floor"),
        ],
    },
];

/// The files and titles of a benchmark's plots.
pub fn plots_of(bench: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    PLOTS.iter().filter(move |plot| plot.bench == bench).map(|plot| (plot.file, plot.title))
}

/// Draws the plots of all recorded benchmarks.
pub fn draw(recorded: &Path) -> anyhow::Result<()> {
    for plot in PLOTS {
        let bench = recorded.join(format!("{}.json", plot.bench));
        if !bench.exists() {
            continue;
        }
        let measured = points(&read(&bench)?);
        let line = |(series, name): &(&str, &str)| {
            let found = measured.iter().find(|line| line.name == *series)?;
            Some(Line { name: (*name).to_owned(), points: found.points.clone() })
        };
        let lines = plot.lines.iter().filter_map(line).collect();
        let PlotSpec { title, x, y, logarithmic, .. } = *plot;
        let svg = Plot { title: title.to_owned(), x, y, logarithmic, lines }.draw();
        std::fs::write(recorded.join(plot.file), svg)?;
    }
    Ok(())
}
