use std::process::ExitCode;

fn main() -> ExitCode {
    butler::cli::main()
}
