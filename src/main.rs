//! The binary. All its code is in libraries: the compiler would compile async functions again for each crate that awaits them.

use std::process::ExitCode;

use docket::server::http::router::SITE;
use mimalloc::MiMalloc;
use web::command_line;

/// Returns memory to the system after a flood of requests, SQLite's too. ADR 17 compares it with other allocators.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    command_line::main(SITE)
}
