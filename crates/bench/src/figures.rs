//! Samples, percentiles, and the table of figures with their goals.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;

/// Durations of repetitions of the same operation, in milliseconds.
#[derive(Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    pub fn add(&mut self, took: Duration) {
        self.0.push(took.as_secs_f64() * 1000.0);
    }

    /// The given quantile in milliseconds (0.5 is the median); NaN without samples.
    pub fn ms(&self, quantile: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let index = ((sorted.len() as f64 - 1.0) * quantile).round().max(0.0) as usize;
        sorted.get(index).copied().unwrap_or(f64::NAN)
    }

    pub fn p50(&self) -> f64 {
        self.ms(0.5)
    }
}

/// One line of the table: what was measured, its goal if it has one, and whether the goal is met.
#[derive(Serialize)]
pub struct Figure {
    pub what: String,
    pub value: f64,
    pub unit: &'static str,
    pub goal: Option<String>,
    pub met: Option<bool>,
    /// The 95 % confidence interval of `value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

/// A value at one size or number of clients. Plots, and tables with a column per size, are drawn from these.
#[derive(Serialize)]
pub struct Point {
    pub series: String,
    pub x: usize,
    pub y: f64,
    pub unit: &'static str,
}

#[derive(Serialize, Default)]
pub struct Report {
    pub bench: &'static str,
    pub figures: Vec<Figure>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<Point>,
}

impl Report {
    pub fn new(bench: &'static str) -> Self {
        Self { bench, ..Self::default() }
    }

    /// Adds a figure without a goal.
    pub fn note(&mut self, what: impl Into<String>, value: f64, unit: &'static str) {
        self.figures.push(Figure { what: what.into(), value, unit, goal: None, met: None, interval: None });
    }

    /// Adds a figure whose goal is a maximum.
    pub fn at_most(&mut self, what: impl Into<String>, value: f64, unit: &'static str, goal: f64) {
        self.note(what, value, unit);
        self.set_goal(format!("≤ {goal}"), value <= goal);
    }

    /// Adds a figure whose goal is a minimum.
    pub fn at_least(&mut self, what: impl Into<String>, value: f64, unit: &'static str, goal: f64) {
        self.note(what, value, unit);
        self.set_goal(format!("≥ {goal}"), value >= goal);
    }

    fn set_goal(&mut self, goal: String, met: bool) {
        if let Some(figure) = self.figures.last_mut() {
            (figure.goal, figure.met) = (Some(goal), Some(met));
        }
    }

    /// Sets the confidence interval of the figure that was added last.
    pub fn set_interval(&mut self, interval: [f64; 2]) {
        if let Some(figure) = self.figures.last_mut() {
            figure.interval = Some(interval);
        }
    }

    pub fn point(&mut self, series: impl Into<String>, x: usize, y: f64, unit: &'static str) {
        self.points.push(Point { series: series.into(), x, y, unit });
    }

    #[expect(clippy::print_stdout, reason = "the table is the program's output")]
    pub fn print(&self) {
        println!("\n{}", self.bench);
        for (series, line) in self.by_series() {
            let values: Vec<String> = line.iter().map(|point| format!("{}: {:.3}", point.x, point.y)).collect();
            let unit = line.first().map_or("", |point| point.unit);
            println!("  {series:<48} {unit:<6} {}", values.join("  "));
        }
        for figure in &self.figures {
            let verdict = match figure.met {
                Some(true) => "met",
                Some(false) => "MISSED",
                None => "",
            };
            let goal = figure.goal.as_deref().unwrap_or("");
            let interval = figure.interval.map_or(String::new(), |[low, high]| format!("[{low:.3}, {high:.3}]"));
            println!(
                "  {:<64} {:>10.3} {:<8} {goal:<10} {verdict:<6} {interval}",
                figure.what, figure.value, figure.unit
            );
        }
    }

    /// The figures that miss their goal, as lines. A figure that could not be measured (NaN) misses it.
    pub fn missed(&self) -> Vec<String> {
        let missed = self.figures.iter().filter(|figure| figure.met == Some(false));
        let line = |figure: &Figure| {
            let goal = figure.goal.as_deref().unwrap_or_default();
            format!("{}: {:.3} {} (goal {goal})", figure.what, figure.value, figure.unit)
        };
        missed.map(line).collect()
    }

    /// The points by series, in the order in which the series first appear.
    fn by_series(&self) -> Vec<(&str, Vec<&Point>)> {
        let mut lines: Vec<(&str, Vec<&Point>)> = Vec::new();
        for point in &self.points {
            match lines.iter_mut().find(|(series, _)| *series == point.series) {
                Some((_, line)) => line.push(point),
                None => lines.push((&point.series, vec![point])),
            }
        }
        lines
    }

    pub fn write(&self, path: Option<&Path>) -> anyhow::Result<()> {
        let Some(path) = path else { return Ok(()) };
        std::fs::write(path, serde_json::to_string_pretty(self)?)
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::Report;

    #[test]
    fn only_figures_beyond_their_goal_are_missed() {
        let mut report = Report::new("test");
        report.note("no goal", 1e9, "ms");
        report.at_most("at the maximum", 3.0, "ms", 3.0);
        report.at_least("at the minimum", 0.98, "", 0.98);
        assert_eq!(report.missed(), Vec::<String>::new());
        report.at_most("too slow", 3.5, "ms", 3.0);
        report.at_least("too few", 0.5, "/s", 1.0);
        assert_eq!(report.missed(), ["too slow: 3.500 ms (goal ≤ 3)", "too few: 0.500 /s (goal ≥ 1)"]);
    }

    #[test]
    fn a_goal_without_a_measurement_is_missed() {
        let mut report = Report::new("test");
        report.at_most("nothing measured", f64::NAN, "ms", 3.0);
        report.at_least("nothing measured", f64::NAN, "ms", 3.0);
        assert_eq!(report.missed().len(), 2);
    }
}
