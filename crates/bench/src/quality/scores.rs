//! What the questions of a set scored, by method and measure.

use super::estimate::{Estimate, estimate};
use crate::figures::Report;

/// The share of the evidence among the first `depth` results.
pub fn recall_at(found: &[usize], evidence: &[usize], depth: usize) -> f64 {
    let hits = found.iter().take(depth).filter(|position| evidence.contains(position)).count();
    hits as f64 / evidence.len() as f64
}

/// 1 if the memory is among the first `depth` results, otherwise 0.
pub fn hit_at(found: &[usize], wanted: usize, depth: usize) -> f64 {
    recall_at(found, &[wanted], depth)
}

/// One divided by the rank of the memory; 0 if it was not found.
pub fn reciprocal_rank(found: &[usize], wanted: usize) -> f64 {
    found.iter().position(|position| *position == wanted).map_or(0.0, |index| 1.0 / (index + 1) as f64)
}

/// The values of all questions of one set.
pub struct Scores {
    set: String,
    columns: Vec<Column>,
}

struct Column {
    method: String,
    measure: String,
    values: Vec<f64>,
}

impl Scores {
    pub fn new(set: impl Into<String>) -> Self {
        Self { set: set.into(), columns: Vec::new() }
    }

    /// Adds the value of one question. Every method gets the questions in the same order.
    pub fn add(&mut self, method: &str, measure: &str, value: f64) {
        let same = |column: &&mut Column| column.method == method && column.measure == measure;
        match self.columns.iter_mut().find(same) {
            Some(column) => column.values.push(value),
            None => {
                let (method, measure) = (method.to_owned(), measure.to_owned());
                self.columns.push(Column { method, measure, values: vec![value] });
            }
        }
    }

    fn values(&self, method: &str, measure: &str) -> &[f64] {
        let same = |column: &&Column| column.method == method && column.measure == measure;
        self.columns.iter().find(same).map_or(&[], |column| &column.values)
    }

    /// Reports the mean of each column, with its goal if it has one.
    pub fn report(&self, report: &mut Report, goal: impl Fn(&str, &str) -> Option<f64>) {
        for Column { method, measure, values } in &self.columns {
            let what = format!("{}: {method} {measure}", self.set);
            let Estimate { mean, interval } = estimate(values);
            match goal(method, measure) {
                Some(goal) => report.at_least(what, mean, "", goal),
                None => report.note(what, mean, ""),
            }
            report.set_interval(interval);
        }
    }

    /// Reports how much better a method is than another on the same questions, which must be at least `goal`.
    pub fn report_difference(&self, report: &mut Report, method: &str, other: &str, measure: &str, goal: f64) {
        let pairs = self.values(method, measure).iter().zip(self.values(other, measure));
        let differences: Vec<f64> = pairs.map(|(value, other)| value - other).collect();
        if differences.is_empty() {
            return;
        }
        let Estimate { mean, interval } = estimate(&differences);
        // equal sums of the same fractions in another order can differ in the last bits
        let mean = (mean * 1e9).round() / 1e9;
        report.at_least(format!("{}: {method} − {other} {measure}", self.set), mean, "", goal);
        report.set_interval(interval);
    }

    /// Reports how many questions a method answered, which must be all of them.
    pub fn report_found(&self, report: &mut Report, measure: &str, has_goal: impl Fn(&str) -> bool) {
        for Column { method, values, .. } in self.columns.iter().filter(|column| column.measure == measure) {
            let (what, all) = (format!("{}: {method}, found of {}", self.set, values.len()), values.len() as f64);
            let Estimate { mean, interval } = estimate(values);
            if has_goal(method) {
                report.at_least(what, (mean * all).round(), "", all);
            } else {
                report.note(what, (mean * all).round(), "");
            }
            report.set_interval(interval.map(|bound| bound * all));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_count_what_is_among_the_first() {
        let found = [4, 7, 1];
        assert_eq!((recall_at(&found, &[7, 9], 2), recall_at(&found, &[1], 2)), (0.5, 0.0));
        assert_eq!((hit_at(&found, 1, 3), hit_at(&found, 1, 2)), (1.0, 0.0));
        assert_eq!((reciprocal_rank(&found, 7), reciprocal_rank(&found, 2)), (0.5, 0.0));
    }

    #[test]
    fn a_tie_is_met_and_a_loss_is_missed() {
        let mut scores = Scores::new("set");
        for (a, b) in [(1.0, 0.5), (0.5, 1.0)] {
            scores.add("tie", "MRR", a);
            scores.add("loss", "MRR", b / 2.0);
            scores.add("cosine", "MRR", b);
        }
        let mut report = Report::new("test");
        scores.report_difference(&mut report, "tie", "cosine", "MRR", 0.0);
        assert!(report.missed().is_empty());
        scores.report_difference(&mut report, "absent", "cosine", "MRR", 0.0);
        scores.report_difference(&mut report, "loss", "cosine", "MRR", 0.0);
        assert_eq!(report.missed().len(), 1);
    }
}
