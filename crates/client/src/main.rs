//! The client alone, for machines that run no server.

use std::process::ExitCode;

use clap::Parser;
use docket_client::{Command, block_on, output, run};
use tokio::runtime::Builder;

/// Starts and follows jobs of a Docket server, and prints page views, with an API token.
#[derive(Parser)]
#[command(name = "docket-client", version, after_help = VARIABLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const VARIABLES: &str = "Variables:
  DOCKET_SERVER       The address of Docket, such as https://docket.example.com
  DOCKET_TOKEN        An API token, from /account/tokens of your Docket
  DOCKET_TOKEN_FILE   Or a file with it
  DOCKET_CA_FILE      Certificate authorities in PEM form to trust besides the system's";

fn main() -> ExitCode {
    let command = match Arguments::try_parse() {
        Ok(arguments) => arguments.command,
        Err(usage) => return output::print_usage(&usage),
    };
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::inform(&format!("the program cannot start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    block_on(runtime, run(command))
}
