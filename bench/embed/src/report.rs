//! The figures as a table and as JSON.

use std::path::Path;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

use crate::Failure;

/// Multiply-adds per token in the matrix products of the six layers: query, key, value, output, and the two of the MLP.
const DENSE: usize = 6 * (4 * 384 * 384 + 2 * 384 * 1536);
/// Multiply-adds per pair of tokens in attention: score and weighted sum.
const PAIR: usize = 6 * 2 * 384;

/// The goal: at least this many times as fast as candle, on one thread.
const GOAL: f64 = 2.5;

/// The times of all rounds, in milliseconds.
#[derive(Default)]
pub struct Measured {
    wall: Vec<f64>,
    /// CPU time of all threads. Ratios on one thread use it, because it excludes the time of other programs.
    cpu: Vec<f64>,
}

impl Measured {
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (wall, cpu) = (Instant::now(), cpu_ms());
        let result = work();
        self.cpu.push(cpu_ms() - cpu);
        self.wall.push(wall.elapsed().as_secs_f64() * 1e3);
        result
    }

    pub fn rounds(&self) -> usize {
        self.wall.len()
    }
}

fn cpu_ms() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}

fn min(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn both(times: &[f64]) -> String {
    format!("{:.2} ({:.2})", min(times), median(times))
}

pub struct Row {
    pub name: &'static str,
    pub sequences: usize,
    pub tokens: usize,
    pub ours: Measured,
    pub ours_two: Measured,
    pub theirs: Measured,
    pub difference: f32,
}

impl Row {
    fn gflops(&self, milliseconds: f64) -> f64 {
        let operations = 2 * self.sequences * (self.tokens * DENSE + self.tokens * self.tokens * PAIR);
        operations as f64 / milliseconds / 1e6
    }

    fn ratio(&self) -> f64 {
        min(&self.theirs.cpu) / min(&self.ours.cpu)
    }
}

pub fn print(instructions: &str, rows: &[Row]) {
    println!("embedding, forward and pooling, {instructions}; milliseconds, min (median); one thread in CPU time");
    println!(
        "{:<16}{:>17}{:>9}{:>17}{:>17}{:>17}{:>9}{:>7}{:>9}{:>10}",
        "",
        "ours, 1 thread",
        "GFLOP/s",
        "wall",
        "2 threads, wall",
        "candle, 1 thread",
        "GFLOP/s",
        "ratio",
        "median",
        "max diff"
    );
    for row in rows {
        let Row { ours, ours_two, theirs, .. } = row;
        println!(
            "{:<16}{:>17}{:>9.0}{:>17}{:>17}{:>17}{:>9.0}{:>7.2}{:>9.2}{:>10.0e}",
            row.name,
            both(&ours.cpu),
            row.gflops(min(&ours.cpu)),
            both(&ours.wall),
            both(&ours_two.wall),
            both(&theirs.cpu),
            row.gflops(min(&theirs.cpu)),
            row.ratio(),
            median(&theirs.cpu) / median(&ours.cpu),
            row.difference,
        );
    }
    match missed(rows).as_slice() {
        [] => println!("goal met: at least {GOAL} times as fast as candle on one thread"),
        cases => println!("goal missed: {GOAL} times as fast as candle on one thread, at {}", cases.join(", ")),
    }
}

/// The cases that miss the goal.
pub fn missed(rows: &[Row]) -> Vec<&'static str> {
    rows.iter().filter(|row| row.ratio() < GOAL).map(|row| row.name).collect()
}

pub fn write(path: &Path, instructions: &str, rows: &[Row]) -> Result<(), Failure> {
    let timing = |row: &Row, m: &Measured| {
        serde_json::json!({
            "cpu_min_ms": min(&m.cpu), "cpu_median_ms": median(&m.cpu),
            "wall_min_ms": min(&m.wall), "wall_median_ms": median(&m.wall),
            "gflops": row.gflops(min(&m.cpu)), "rounds": m.rounds(),
        })
    };
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            serde_json::json!({
                "case": row.name,
                "ours_1_thread": timing(row, &row.ours),
                "ours_2_threads": timing(row, &row.ours_two),
                "candle_1_thread": timing(row, &row.theirs),
                "ratio": row.ratio(),
                "max_difference": row.difference,
                "met": row.ratio() >= GOAL,
            })
        })
        .collect();
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let report = serde_json::json!({ "instructions": instructions, "goal": GOAL, "rows": rows });
    std::fs::write(path, serde_json::to_vec_pretty(&report)?)?;
    Ok(())
}
