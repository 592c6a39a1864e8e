//! The results as a table and as JSON.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::journal::Journal;
use crate::plan::Fault;

#[derive(Debug, Default)]
pub struct Report {
    pub seed: u64,
    pub clients: usize,
    pub tenants: usize,
    pub rounds: u64,
    pub took: Duration,
    /// The number of injections of each fault, and the longest recovery.
    pub faults: BTreeMap<Fault, (u64, Duration)>,
    /// Faults this machine does not allow, with the reason.
    pub not_possible: Vec<String>,
    pub disk_used: u64,
    /// Starts that succeeded only at the second attempt.
    pub repeated_starts: u64,
}

impl Report {
    pub fn injected(&mut self, fault: Fault, recovery: Duration) {
        let (count, longest) = self.faults.entry(fault).or_default();
        *count += 1;
        *longest = recovery.max(*longest);
    }

    #[expect(clippy::print_stdout, reason = "the table is the program's output")]
    pub fn print(&self, journal: &Journal) {
        println!("\ntorture: seed {}, {} clients, {} tenants", self.seed, self.clients, self.tenants);
        println!("  {:<52} {:>10.1} min", "time", self.took.as_secs_f64() / 60.0);
        println!("  {:<52} {:>10}", "rounds", self.rounds);
        for (fault, (count, longest)) in &self.faults {
            println!("  {:<52} {count:>10} × ready again within {:.1} s", fault.name(), longest.as_secs_f64());
        }
        println!("  {:<52} {:>10}", "faults", self.faults.values().map(|(count, _)| count).sum::<u64>());
        if self.repeated_starts > 0 {
            println!("  {:<52} {:>10}", "repeated starts", self.repeated_starts);
        }
        for line in &self.not_possible {
            println!("  not possible on this machine: {line}");
        }
        println!("\n  {:<52} {:>12} {:>9} {:>9}", "calls", "acknowledged", "refused", "unknown");
        for (tool, [done, refused, unknown]) in &journal.tools {
            println!("  {tool:<52} {done:>12} {refused:>9} {unknown:>9}");
        }
        let [done, refused, unknown] = journal.totals();
        println!("  {:<52} {done:>12} {refused:>9} {unknown:>9}", "all");
        println!("\n  reasons for `unavailable`:");
        for (said, count) in &journal.excuses {
            println!("  {count:>8} × {said}");
        }
        println!("\n  violations: {}", journal.violation_count());
        for (example, count) in journal.violations.values() {
            println!("  {count:>8} × {example}");
        }
    }

    pub fn write(&self, journal: &Journal, path: &Path) -> anyhow::Result<()> {
        let [acknowledged, refused, unknown] = journal.totals();
        let faults: BTreeMap<_, _> = self
            .faults
            .iter()
            .map(|(fault, (count, longest))| {
                (fault.name(), json!({"count": count, "longest_recovery_s": longest.as_secs_f64()}))
            })
            .collect();
        let report = json!({
            "bench": "torture", "seed": self.seed, "clients": self.clients, "tenants": self.tenants,
            "minutes": self.took.as_secs_f64() / 60.0, "rounds": self.rounds, "faults": faults,
            "not_possible": self.not_possible, "repeated_starts": self.repeated_starts, "disk_bytes": self.disk_used, "tools": journal.tools,
            "acknowledged": acknowledged, "refused": refused, "unknown": unknown,
            "violations": journal.violation_count(),
            "examples": journal.violations.values().map(|(example, _)| example).collect::<Vec<_>>(),
        });
        std::fs::write(path, serde_json::to_string_pretty(&report)? + "\n")?;
        Ok(())
    }
}
