//! Generates docs/benchmarks.md.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::plots::plots_of;
use super::sections::SECTIONS;
use super::{points, read};
use crate::svg::shown;

const HEAD: &str = "\
# Benchmarks

You can repeat every measurement from a clone with Rust and Python's pip:

| command | what it does |
|---|---|
| `cargo xtask bench NAME` | runs one section below (`cargo xtask bench --help` lists the names) and prints its table; `cargo xtask bench report` then writes this page |
| `cargo xtask bench peers` | runs the same work on other memory systems |
| `cargo xtask torture` | injects faults under load and checks that nothing acknowledged is lost ([torture test](torture.md)) |
| `cargo xtask scaleout` | runs several servers on one database, with replicas and failovers ([scaling](scaling.md)) |

A benchmark that misses a goal lists it at the end and exits with 1, unless `--allow-missed` is given.

This page is generated from docs/benchmarks/*.json and the notes in docs/benchmarks/*.md. Where possible, figures are
ratios within one run, because machines are shared and noisy. [Retrieval](retrieval.md) and the ADRs explain the figures
of retrieval.
";

pub fn page(recorded: &Path) -> anyhow::Result<String> {
    let mut page = HEAD.to_owned();
    for (name, title, about) in SECTIONS {
        let path = recorded.join(format!("{name}.json"));
        if path.exists() {
            let note = std::fs::read_to_string(recorded.join(format!("{name}.md"))).unwrap_or_default();
            section(&mut page, name, title, &[about, note.trim()], &read(&path)?)?;
        }
    }
    Ok(page)
}

fn section(page: &mut String, name: &str, title: &str, about: &[&str; 2], bench: &Value) -> anyhow::Result<()> {
    let [about, note] = about;
    writeln!(page, "\n## {title}\n`cargo xtask bench {name}`. {about}\n")?;
    if !note.is_empty() {
        writeln!(page, "{note}\n")?;
    }
    for (file, title) in plots_of(name) {
        writeln!(page, "![{title}](benchmarks/{file})\n")?;
    }
    columns(page, bench)?;
    let figures = rows(bench);
    if !figures.is_empty() {
        writeln!(page, "| | | goal | |\n|---|---|---|---|\n{}\n", figures.join("\n"))?;
    }
    let of_run = |key: &str| bench["run"][key].as_str().unwrap_or("?").to_owned();
    writeln!(page, "{}, commit {}, {}.", of_run("date"), of_run("commit"), of_run("machine"))?;
    Ok(())
}

/// Writes a table with one row per series and one column per size, if there are points. The last column is the growth.
fn columns(page: &mut String, bench: &Value) -> anyhow::Result<()> {
    let lines = points(bench);
    let mut sizes: Vec<f64> = lines.iter().flat_map(|line| line.points.iter().map(|(x, _)| *x)).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if sizes.is_empty() {
        return Ok(());
    }
    let heads: Vec<String> = sizes.iter().map(|size| shown(*size)).collect();
    writeln!(page, "| | {} | growth |\n|---|{}---|", heads.join(" | "), "---|".repeat(sizes.len()))?;
    for line in &lines {
        let at = |size: &f64| line.points.iter().find(|(x, _)| x == size).map(|(_, y)| *y);
        let values: Vec<String> = sizes.iter().map(|size| at(size).map_or(String::new(), rounded)).collect();
        let growth = match (line.points.first(), line.points.last()) {
            (Some((_, first)), Some((_, last))) => format!("{} ×", rounded(last / first)),
            _ => String::new(),
        };
        writeln!(page, "| {}, {} | {} | {growth} |", line.name, line.unit, values.join(" | "))?;
    }
    writeln!(page)?;
    Ok(())
}

fn rows(bench: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let verdict = |met: &Value| match met.as_bool() {
        Some(true) => "met",
        Some(false) => "**missed**",
        None => "",
    };
    if let Some(figures) = bench["figures"].as_array() {
        let row = |figure: &Value| {
            let value = rounded(figure["value"].as_f64().unwrap_or(f64::NAN));
            let (unit, goal) = (text(&figure["unit"]), text(&figure["goal"]));
            let interval = match (figure["interval"][0].as_f64(), figure["interval"][1].as_f64()) {
                (Some(low), Some(high)) => format!(" [{}, {}]", rounded(low), rounded(high)),
                _ => String::new(),
            };
            format!("| {} | {value} {unit}{interval} | {goal} | {} |", text(&figure["what"]), verdict(&figure["met"]))
        };
        return figures.iter().map(row).collect();
    }
    // bench/embed has its own format
    let row = |row: &Value| {
        let ms = |who: &str, key: &str| row[who][key].as_f64().unwrap_or(f64::NAN);
        let least = ms("candle_1_thread", "cpu_min_ms") / ms("ours_1_thread", "cpu_min_ms");
        let median = ms("candle_1_thread", "cpu_median_ms") / ms("ours_1_thread", "cpu_median_ms");
        format!(
            "| {}: {} ms, {} GFLOP/s on one thread | {} × as fast as candle (median {}) | ≥ {} | {} |",
            text(&row["case"]),
            rounded(ms("ours_1_thread", "cpu_min_ms")),
            rounded(ms("ours_1_thread", "gflops")),
            rounded(least),
            rounded(median),
            bench["goal"],
            verdict(&row["met"])
        )
    };
    bench["rows"].as_array().map(|all| all.iter().map(row).collect()).unwrap_or_default()
}

/// Rounds to three significant digits.
fn rounded(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
