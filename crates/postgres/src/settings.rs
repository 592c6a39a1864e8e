//! The server's settings, computed for the machine and written at every start. The user's custom.conf takes precedence.

use std::fs;
use std::path::Path;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// The properties of the machine that the settings depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    /// In bytes.
    pub memory: u64,
    pub cores: u64,
    /// The size of /dev/shm in bytes, which parallel queries use. Containers often have only 64 MB.
    pub shm: u64,
}

/// The memory to assume if it cannot be determined; small enough to be safe anywhere.
const ASSUMED_MEMORY: u64 = 2 * GIB;

impl Machine {
    pub fn detect() -> Self {
        let limits = [total_memory(), cgroup_limit()];
        let shm = rustix::fs::statvfs("/dev/shm").map_or(u64::MAX, |fs| fs.f_blocks * fs.f_frsize);
        Self {
            memory: limits.into_iter().flatten().min().unwrap_or(ASSUMED_MEMORY),
            cores: std::thread::available_parallelism().map_or(1, |n| n.get() as u64),
            shm: if cfg!(target_os = "linux") { shm } else { u64::MAX },
        }
    }
}

fn total_memory() -> Option<u64> {
    if cfg!(target_os = "macos") {
        let out = std::process::Command::new("sysctl").args(["-n", "hw.memsize"]).output().ok()?;
        return String::from_utf8(out.stdout).ok()?.trim().parse().ok();
    }
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kb| kb * 1024)
}

/// The lowest memory limit of this process's control groups, version 1 or 2.
fn cgroup_limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let (base, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => continue,
        };
        let path = Path::new(path.trim_start_matches('/'));
        files.extend(path.ancestors().map(|group| Path::new(base).join(group).join(file)));
    }
    files.iter().filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok()).min()
}

/// The properties of one server that the settings depend on.
pub(crate) struct Instance<'a> {
    pub socket_dir: &'a Path,
    pub log_dir: &'a Path,
    /// The major version of PostgreSQL.
    pub major: u32,
    /// Whether pg_prewarm is installed.
    pub prewarm: bool,
}

pub(crate) fn render(machine: &Machine, instance: &Instance<'_>) -> String {
    let megabytes = |share: u64, min: u64, max: u64| (machine.memory / share / MIB).clamp(min, max);
    // An eighth instead of the usual quarter, because the machine also runs the model and the user's programs.
    let shared_buffers = megabytes(8, 128, 2048);
    let work_mem = megabytes(256, 4, 32);
    // Vector indexes are built in this memory; larger builds spill to disk.
    let maintenance_work_mem = megabytes(16, 64, 512);
    let cache = megabytes(2, 512, 1 << 20);
    let cores = machine.cores;
    let gather = (cores / 2).min(2);
    let dsm = if machine.shm < 256 * MIB { "mmap" } else { "posix" };
    // Double quotes are needed too, because the setting is a list, in which a comma separates entries.
    let sockets = quoted(&format!("\"{}\"", instance.socket_dir.display().to_string().replace('"', "\"\"")));
    let logs = quoted(&instance.log_dir.display().to_string());
    // Searches read vector indexes without loading them into the shared buffers, so only pg_prewarm does that.
    let prewarm = if instance.prewarm {
        "\n# reloads the shared buffers in the background after a start\nshared_preload_libraries = 'pg_prewarm'\n"
    } else {
        ""
    };
    // initdb hashes the owner's random password once; for other passwords the default holds.
    let scram = if instance.major >= 16 { "scram_iterations = 4096\n" } else { "" };
    format!(
        "\
# Written by butler at every start; changes here are lost. Put your own settings into custom.conf, which takes precedence.

# accessible only through the Unix socket
listen_addresses = ''
port = 5432
unix_socket_directories = {sockets}
unix_socket_permissions = 0700
password_encryption = 'scram-sha-256'
{scram}max_connections = 100
cluster_name = 'butler'
timezone = 'UTC'

# memory, computed from {memory} MiB and {cores} cores
shared_buffers = {shared_buffers}MB
effective_cache_size = {cache}MB
work_mem = {work_mem}MB
maintenance_work_mem = {maintenance_work_mem}MB
dynamic_shared_memory_type = {dsm}
max_parallel_workers = {cores}
max_parallel_workers_per_gather = {gather}
max_parallel_maintenance_workers = {gather}
{prewarm}
# statements are short: plan for solid state disks, no JIT compilation
random_page_cost = 1.1
jit = off

# durability is PostgreSQL's default (fsync and full_page_writes on); these settings only spread the writes
wal_level = replica
# Pages of tables with vectors shrink by only a seventh, and the first call that changes one after a checkpoint waits for it.
wal_compression = off
max_wal_size = 1GB
min_wal_size = 80MB
checkpoint_timeout = 15min
checkpoint_completion_target = 0.9

# every recall updates rows, so vacuum and analyze run earlier than by default
autovacuum = on
autovacuum_naptime = 30s
autovacuum_vacuum_scale_factor = 0.05
autovacuum_vacuum_insert_scale_factor = 0.1
autovacuum_analyze_scale_factor = 0.02

# one file per weekday, overwritten after a week
logging_collector = on
log_directory = {logs}
log_filename = 'postgres-%a.log'
log_file_mode = 0600
log_rotation_age = 1d
log_rotation_size = 0
log_truncate_on_rotation = on
log_line_prefix = '%m [%p] %q%u@%d '
log_checkpoints = off
log_autovacuum_min_duration = 10s
lc_messages = 'C'
",
        memory = machine.memory / MIB,
    )
}

fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(gib: u64, name: &str) -> String {
        let machine = Machine { memory: gib * GIB, cores: 4, shm: u64::MAX };
        let text = render(
            &machine,
            &Instance {
                socket_dir: Path::new("/a, b/\"c\" 'd'"),
                log_dir: Path::new("/l'og"),
                major: 18,
                prewarm: true,
            },
        );
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} = ")));
        line.unwrap_or_else(|| panic!("{name} is not set")).to_owned()
    }

    #[test]
    fn memory_settings_on_machines_with_1_4_and_16_gib() {
        let on = |name| [1, 4, 16].map(|gib| setting(gib, name));
        assert_eq!(on("shared_buffers"), ["128MB", "512MB", "2048MB"]);
        assert_eq!(on("work_mem"), ["4MB", "16MB", "32MB"]);
        assert_eq!(on("maintenance_work_mem"), ["64MB", "256MB", "512MB"]);
        assert_eq!(on("effective_cache_size"), ["512MB", "2048MB", "8192MB"]);
    }

    #[test]
    fn durability_settings_keep_their_defaults() {
        let machine = Machine { memory: GIB, cores: 1, shm: 64 * MIB };
        let text = render(
            &machine,
            &Instance { socket_dir: Path::new("/s"), log_dir: Path::new("/l"), major: 18, prewarm: false },
        );
        for name in ["fsync", "full_page_writes", "synchronous_commit"] {
            assert!(!text.lines().any(|line| line.starts_with(name)), "{name} keeps PostgreSQL's default");
        }
        assert!(
            text.contains("dynamic_shared_memory_type = mmap"),
            "64 MB of /dev/shm are too little for parallel queries"
        );
        assert!(!text.contains("shared_preload"), "the server would not start with a missing library");
    }

    #[test]
    fn paths_are_quoted_for_the_list_and_for_the_configuration_file() {
        assert_eq!(setting(1, "unix_socket_directories"), r#"'"/a, b/""c"" ''d''"'"#);
        assert_eq!(setting(1, "log_directory"), "'/l''og'");
        assert_eq!(setting(1, "shared_preload_libraries"), "'pg_prewarm'");
    }

    #[test]
    fn the_properties_of_this_machine_are_detected() {
        let machine = Machine::detect();
        assert!(machine.memory > 100 * MIB && machine.cores >= 1, "{machine:?}");
    }
}
