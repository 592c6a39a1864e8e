//! The flags that every command accepts, combined with the environment and the defaults.

use std::net::SocketAddr;
use std::path::PathBuf;

use butler_domain::TenantId;
use butler_host::config::Source;
use butler_host::config::show::Origin;
use butler_host::env;
use butler_host::error::HostError;
use butler_host::host::HostOptions;
use butler_host::instance;
use butler_server::http::listen;
use clap::ArgMatches;
use clap::parser::ValueSource;

use crate::logging::LogFormat;

const HEADING: &str = "Global options";
const DEFAULT_LISTEN: &str = "127.0.0.1:8150";

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = HEADING)]
pub struct Global {
    /// Directory for the private PostgreSQL and its data [default: the platform's data directory]
    #[arg(long, global = true, value_name = "DIR", env = env::DATA_DIR, hide_env_values = true)]
    pub data_dir: Option<PathBuf>,
    /// Configuration file of a single butler (butler.toml)
    #[arg(long, global = true, value_name = "FILE", env = env::CONFIG, hide_env_values = true)]
    pub config: Option<PathBuf>,
    /// Directory with one subdirectory per butler, each with a butler.toml
    #[arg(long, global = true, value_name = "DIR", env = env::ROSTER, hide_env_values = true)]
    pub roster: Option<PathBuf>,
    /// Butler to use [default: the first]
    #[arg(long, global = true, value_name = "NAME")]
    pub butler: Option<String>,
    /// Tenant whose memory to use [default: default]
    #[arg(long, global = true, value_name = "NAME", value_parser = tenant)]
    pub tenant: Option<TenantId>,
    /// Use your own PostgreSQL (14 or newer, with pgvector) instead of the private one
    #[arg(long, global = true, value_name = "URL", env = env::DATABASE_URL, hide_env_values = true)]
    pub database_url: Option<String>,
    /// Directory with an unpacked PostgreSQL, for machines without network access
    #[arg(long, global = true, value_name = "DIR", env = env::RUNTIME_DIR, hide_env_values = true)]
    pub runtime_dir: Option<PathBuf>,
    /// Directory with an unpacked embedding model, for machines without network access
    #[arg(long, global = true, value_name = "DIR", env = env::MODEL_DIR, hide_env_values = true)]
    pub model_dir: Option<PathBuf>,
    /// Address to listen on
    #[arg(long, global = true, value_name = "ADDR", env = env::LISTEN, hide_env_values = true, default_value = DEFAULT_LISTEN, value_parser = listen::parse)]
    pub listen: SocketAddr,
    /// Log more; repeat to log everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub verbose: u8,
    /// Log errors only, and show no progress and no notes; results are still printed
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Format of the logs on stderr
    #[arg(long, global = true, value_enum, value_name = "FORMAT", env = env::LOG_FORMAT, hide_env_values = true, default_value = "text")]
    pub log_format: LogFormat,
}

fn tenant(text: &str) -> Result<TenantId, String> {
    TenantId::new(text).map_err(|error| error.to_string())
}

/// The resolved global options.
#[derive(Debug, Clone)]
pub struct Settings {
    pub host: HostOptions,
    pub listen: SocketAddr,
    pub butler: Option<String>,
    pub tenant: Option<TenantId>,
    pub quiet: bool,
    /// The origin of each value that `config show` prints, by flag.
    pub origins: Vec<(&'static str, Origin)>,
}

impl Settings {
    /// The flags another command needs to work on the same butlers.
    pub fn flags(&self) -> String {
        let given = |id: &str| self.origins.iter().any(|(key, origin)| *key == id && *origin == Origin::Flag);
        let quoted = |path: &std::path::Path| format!("'{}'", path.display().to_string().replace('\'', "'\\''"));
        let mut flags = String::new();
        if given("data_dir") {
            flags.push_str(&format!(" --data-dir {}", quoted(&self.host.data_dir)));
        }
        match &self.host.source {
            Source::File(file) if given("config") => flags.push_str(&format!(" --config {}", quoted(file))),
            Source::Roster(dir) if given("roster") => flags.push_str(&format!(" --roster {}", quoted(dir))),
            _ => {}
        }
        if given("database_url") {
            flags.push_str(" --database-url URL");
        }
        flags
    }

    /// Combines flags, environment and defaults.
    pub fn resolve(global: &Global, matches: &ArgMatches) -> Result<Self, HostError> {
        let origin = |id: &'static str| match matches.value_source(id) {
            Some(ValueSource::CommandLine) => Origin::Flag,
            Some(ValueSource::EnvVariable) => Origin::Env,
            _ => Origin::Default,
        };
        let ids = ["data_dir", "listen", "database_url", "runtime_dir", "model_dir", "config", "roster"];
        let source = match (&global.config, &global.roster) {
            (None, None) => Source::Defaults,
            (Some(file), None) => Source::File(file.clone()),
            (None, Some(dir)) => Source::Roster(dir.clone()),
            // A flag takes precedence over an environment variable. Two flags or two variables conflict.
            (Some(file), Some(dir)) => match (origin("config"), origin("roster")) {
                (Origin::Flag, Origin::Env) => Source::File(file.clone()),
                (Origin::Env, Origin::Flag) => Source::Roster(dir.clone()),
                _ => {
                    let hint = "use --config for one butler.toml, or --roster for a directory of butlers";
                    return Err(HostError::usage("--config and --roster cannot be used together", hint));
                }
            },
        };
        let data_dir = match &global.data_dir {
            Some(dir) => std::path::absolute(dir).map_err(HostError::io("find", dir))?,
            None => default_data_dir()?,
        };
        Ok(Self {
            host: HostOptions {
                data_dir,
                cache_dir: butler_fetch::default_cache_dir(),
                source,
                database_url: global.database_url.clone().filter(|url| !url.is_empty()),
                runtime_dir: global.runtime_dir.clone(),
                model_dir: global.model_dir.clone(),
            },
            listen: global.listen,
            butler: global.butler.clone(),
            tenant: global.tenant.clone(),
            quiet: global.quiet,
            origins: ids.map(|id| (id, origin(id))).to_vec(),
        })
    }
}

impl Settings {
    /// Adopts the configuration and database of the running server if the command line names neither.
    #[must_use]
    pub fn with_running_server(mut self) -> Self {
        if self.host.source == Source::Defaults
            && self.host.database_url.is_none()
            && let Some(server) = instance::running(&self.host.data_dir)
        {
            self.host.source = server.source;
            self.host.database_url = server.database_url;
        }
        self
    }
}

fn default_data_dir() -> Result<PathBuf, HostError> {
    let home = || {
        std::env::home_dir().filter(|home| home.is_absolute()).ok_or_else(|| {
            HostError::Failed("no home directory found for the data directory: set --data-dir".to_owned())
        })
    };
    if cfg!(target_os = "macos") {
        return Ok(home()?.join("Library/Application Support/butler"));
    }
    match env::var(env::XDG_DATA_HOME).map(PathBuf::from).filter(|dir| dir.is_absolute()) {
        Some(dir) => Ok(dir.join("butler")),
        None => Ok(home()?.join(".local/share/butler")),
    }
}
