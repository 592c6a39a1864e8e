//! Our MiniLM compared with candle's: the same texts and threads in one run, in turns, so that noise affects both alike.
//! Prints a table. `--json FILE` writes the same figures, `--model-dir DIR` names the weights. A missed goal ends the
//! program with exit code 1, unless `--allow-missed` is given.

mod candle;
mod report;

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use butler_embed::minilm::{Model, Scratch, instructions};

use report::{Measured, Row};

/// candle reads its thread count from the environment, so the work runs in a child process with this variable set.
const THREADS: &str = "RAYON_NUM_THREADS";

/// (name, sequences, tokens each)
const CASES: [(&str, usize, usize); 4] =
    [("8 tokens", 1, 8), ("32 tokens", 1, 32), ("256 tokens", 1, 256), ("32 x 32 tokens", 32, 32)];

/// The minimum time and the minimum number of rounds per case.
const SECONDS: f64 = 4.0;
const ROUNDS: usize = 15;

/// Passes of one implementation in a row, because the first pass of a turn finds the other's weights in the caches.
const TURN: usize = 5;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    match if std::env::var_os(THREADS).is_some() { run() } else { run_in_child() } {
        Ok(code) => code,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run_in_child() -> Result<ExitCode, Failure> {
    let status = Command::new(std::env::current_exe()?).args(std::env::args_os().skip(1)).env(THREADS, "1").status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run() -> Result<ExitCode, Failure> {
    let Arguments { json, model_dir, allow_missed } = arguments()?;
    let dir = butler_embed::locate_model(model_dir.as_deref(), &butler_fetch::default_cache_dir(), &butler_fetch::Silent)?;
    let model = Model::load(&dir)?;
    let candle = candle::Candle::load(&dir)?;
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build();
    let (one, two) = (pool(1)?, pool(2)?);

    let mut rows = Vec::new();
    for (name, sequences, tokens) in CASES {
        let ids: Vec<Vec<u32>> = (0..sequences).map(|n| sample(n, tokens)).collect();
        let mut scratch = Scratch::default();
        let difference = check(&one.install(|| model.forward(&ids, &mut scratch)), &candle.forward(&ids)?);
        let (mut ours, mut ours_two, mut theirs) = (Measured::default(), Measured::default(), Measured::default());
        let start = Instant::now();
        while start.elapsed().as_secs_f64() < SECONDS || ours.rounds() < ROUNDS {
            for _ in 0..TURN {
                ours.time(|| one.install(|| model.forward(&ids, &mut scratch)));
            }
            for _ in 0..TURN {
                theirs.time(|| candle.forward(&ids))?;
            }
            for _ in 0..TURN {
                ours_two.time(|| two.install(|| model.forward(&ids, &mut scratch)));
            }
        }
        rows.push(Row { name, sequences, tokens, ours, ours_two, theirs, difference });
    }
    report::print(instructions(), &rows);
    if let Some(path) = json {
        report::write(&path, instructions(), &rows)?;
    }
    Ok(if allow_missed || report::missed(&rows).is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Default)]
struct Arguments {
    json: Option<PathBuf>,
    model_dir: Option<PathBuf>,
    allow_missed: bool,
}

fn arguments() -> Result<Arguments, Failure> {
    let mut given = Arguments::default();
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let path = match argument.to_str() {
            Some("--json") => &mut given.json,
            Some("--model-dir") => &mut given.model_dir,
            Some("--allow-missed") => {
                given.allow_missed = true;
                continue;
            }
            _ => return Err("usage: bench-embed [--json FILE] [--model-dir DIR] [--allow-missed]".into()),
        };
        *path = Some(PathBuf::from(arguments.next().ok_or("--json and --model-dir need a path")?));
    }
    Ok(given)
}

/// Token ids spread about as widely as in real text, between [CLS] and [SEP].
fn sample(seed: usize, tokens: usize) -> Vec<u32> {
    let middle = (0..tokens - 2).map(|n| 1996 + ((seed * 7919 + n * 104_729) % 20_000) as u32);
    std::iter::once(101).chain(middle).chain(std::iter::once(102)).collect()
}

/// The largest difference between the two results. If they differed, the comparison would be worthless.
fn check(ours: &[butler_embed::Vector], theirs: &[Vec<f32>]) -> f32 {
    ours.iter().zip(theirs).flat_map(|(a, b)| a.iter().zip(b).map(|(x, y)| (x - y).abs())).fold(0.0, f32::max)
}
