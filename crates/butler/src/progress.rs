//! Progress of downloads and long commands: a bar on a terminal, log lines elsewhere.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};

use butler_fetch::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// Shows progress as bars if stderr is a terminal. Otherwise it writes log lines, so that a first start, which
/// downloads for a minute, is never silent.
pub fn on_stderr(quiet: bool) -> Arc<dyn Progress> {
    match (quiet, std::io::stderr().is_terminal()) {
        (true, _) => Arc::new(butler_fetch::Silent),
        (false, true) => Arc::new(Bars::default()),
        (false, false) => Arc::new(Lines),
    }
}

#[derive(Default)]
struct Bars(Mutex<Option<ProgressBar>>);

impl Bars {
    fn set(&self, bar: Option<ProgressBar>) -> Option<ProgressBar> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), bar)
    }
}

impl Progress for Bars {
    fn start(&self, what: &str, total: Option<u64>) {
        // Only downloads have a known size; other steps get a spinner.
        let bar = match total {
            Some(total) => {
                ProgressBar::new(total).with_style(style("downloading {msg} {wide_bar} {bytes}/{total_bytes} {eta}"))
            }
            None => ProgressBar::new_spinner().with_style(style("{spinner} {msg}")),
        };
        bar.set_message(what.to_owned());
        if let Some(old) = self.set(Some(bar)) {
            old.finish_and_clear();
        }
    }

    fn at(&self, done: u64) {
        if let Some(bar) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            bar.set_position(done);
        }
    }

    fn finish(&self, _: &str) {
        if let Some(bar) = self.set(None) {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A progress bar for a countable number of steps. It is hidden unless stderr is a terminal.
pub fn steps(quiet: bool, what: &str) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0).with_style(style("{msg} {wide_bar} {pos}/{len} {elapsed}"));
    bar.set_message(what.to_owned());
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar
}

struct Lines;

impl Progress for Lines {
    fn start(&self, what: &str, total: Option<u64>) {
        match total {
            Some(total) => tracing::info!("downloading {what} ({})", size(total)),
            None => tracing::info!("{what}"),
        }
    }

    fn at(&self, _: u64) {}

    fn finish(&self, what: &str) {
        tracing::info!("{what}: done");
    }
}

/// Formats a number of bytes, as in `13.6 MB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["B", "kB", "MB", "GB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}
