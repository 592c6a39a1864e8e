//! `cargo xtask bench report`: writes docs/benchmarks.md from the figures of the last runs.
//!
//! A run writes its figures to target/bench. `report` copies them to docs/benchmarks/, with machine, date and commit, and
//! writes the page from everything recorded there. A benchmark that was not run again keeps its figures and their date.
//! A note about a benchmark is in docs/benchmarks/NAME.md and appears above its table.

mod page;
mod plots;
mod sections;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde_json::{Value, json};

#[derive(clap::Args)]
pub struct Args {
    /// The directory with the figures of the runs.
    #[arg(long)]
    figures: PathBuf,
    /// The project's root directory.
    #[arg(long)]
    root: PathBuf,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let recorded = args.root.join("docs/benchmarks");
    std::fs::create_dir_all(&recorded)?;
    let run = json!({
        "date": said(&args.root, "date", &["-u", "+%F"])?,
        "commit": said(&args.root, "git", &["rev-parse", "--short", "HEAD"])?,
        "machine": machine(),
    });
    for (name, _, _) in sections::SECTIONS {
        let fresh = args.figures.join(format!("{name}.json"));
        let into = recorded.join(format!("{name}.json"));
        if newer(&fresh, &into) {
            let mut figures = read(&fresh)?;
            figures["run"] = run.clone();
            std::fs::write(&into, serde_json::to_string_pretty(&figures)? + "\n")?;
        }
    }
    plots::draw(&recorded)?;
    std::fs::write(args.root.join("docs/benchmarks.md"), page::page(&recorded)?)?;
    Ok(())
}

/// The values of one series at several sizes.
struct Series {
    name: String,
    unit: String,
    points: Vec<(f64, f64)>,
}

/// The points of a benchmark by series, in the order in which the series first appear.
fn points(bench: &Value) -> Vec<Series> {
    let mut lines: Vec<Series> = Vec::new();
    for point in bench["points"].as_array().into_iter().flatten() {
        let (Some(name), Some(x), Some(y)) = (point["series"].as_str(), point["x"].as_f64(), point["y"].as_f64())
        else {
            continue;
        };
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push((x, y)),
            None => {
                let unit = point["unit"].as_str().unwrap_or_default().to_owned();
                lines.push(Series { name: name.to_owned(), unit, points: vec![(x, y)] });
            }
        }
    }
    lines
}

fn newer(fresh: &Path, recorded: &Path) -> bool {
    let changed = |path: &Path| std::fs::metadata(path).and_then(|data| data.modified()).ok();
    changed(fresh).is_some_and(|fresh| changed(recorded).is_none_or(|recorded| fresh > recorded))
}

fn read(path: &Path) -> anyhow::Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}

fn said(root: &Path, program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program).args(arguments).current_dir(root).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split(':').nth(1));
    format!("{cores} cores of {}", model.map_or(std::env::consts::ARCH, str::trim))
}
