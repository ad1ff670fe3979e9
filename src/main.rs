//! The binary. All its code is in the library: the compiler would compile async functions again for each crate that awaits them.

use std::process::ExitCode;

use docket::server::command_line;
use mimalloc::MiMalloc;

/// Returns memory to the system after a flood of requests, SQLite's too. ADR 17 compares it with other allocators.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    command_line::main()
}
