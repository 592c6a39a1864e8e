//! Asks before a command destroys something.

use std::io::{BufRead, IsTerminal, Write};

use butler_host::error::HostError;

/// Asks on the terminal unless `yes` was given. `effect` says what the command does, for an error without a terminal.
pub fn require(yes: bool, effect: &str, question: &str) -> Result<(), HostError> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        let problem = format!("{effect}, and stdin is not a terminal to ask for confirmation");
        return Err(HostError::Failed(format!("{problem}: add --yes")));
    }
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "{question} [y/N] ");
    let _ = stderr.flush();
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(HostError::io("read", "the answer"))?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    Err(HostError::Failed("cancelled; nothing was changed".to_owned()))
}
