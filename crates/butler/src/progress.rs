//! How a fetch gets on: a bar on a terminal, a line in the log elsewhere.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};

use butler_fetch::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// Bars where a person watches stderr; otherwise log lines, so that a first start is never silent for a minute.
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
        // What has a size is fetched; what has none is waited for.
        let bar = match total {
            Some(total) => {
                ProgressBar::new(total).with_style(style("fetching {msg} {wide_bar} {bytes}/{total_bytes} {eta}"))
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

/// Steps of known number, with a bar on a terminal; elsewhere it counts in silence.
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
            Some(total) => tracing::info!("fetching {what} ({})", size(total)),
            None => tracing::info!("{what}"),
        }
    }

    fn at(&self, _: u64) {}

    fn finish(&self, what: &str) {
        tracing::info!("{what}: done");
    }
}

/// `13.6 MB`.
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
