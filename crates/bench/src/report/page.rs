//! docs/benchmarks.md.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::plots::plots_of;
use super::sections::SECTIONS;
use super::{points, read};
use crate::svg::shown;

const HEAD: &str = "\
# Benchmarks

Everything here can be measured anew from a clone with Rust and Python's pip; each command prints its table and says what it met:

| | |
|---|---|
| `cargo xtask bench NAME` | one section below (`cargo xtask bench --help` lists the names); then `cargo xtask bench report` writes this page |
| `cargo xtask torture` | kills, pauses, full disks and cut connections under load, then a checker that knows what was acknowledged |
| `cargo xtask scaleout`, `cargo xtask bench peers` | several servers on one database, replicas and failover ([scaling](scaling.md)); the same work on other memory systems |

This page is generated from docs/benchmarks/*.json, notes from docs/benchmarks/*.md. Figures are ratios within one run where that is
possible: machines are shared and noisy. What is said about retrieval's figures is in [retrieval](retrieval.md) and the ADRs.
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

/// The table with a column a size, where there are points: a row a line, and how much it grew.
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
            format!("| {} | {value} {unit} | {goal} | {} |", text(&figure["what"]), verdict(&figure["met"]))
        };
        return figures.iter().map(row).collect();
    }
    // the embedding's own form
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

/// Three digits that say something.
fn rounded(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
