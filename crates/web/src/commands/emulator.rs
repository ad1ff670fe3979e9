//! `docket emulator`: the emulator alone.

use std::net::SocketAddr;
use std::thread;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::serve::stop_on;
use crate::process::listen;
use crate::process::stop_signals::StopSignals;
use client::output::print_line;
use docket_emulator::{Clock, CodeHostConfig, Emulator};
pub use docket_emulator::{DEFAULT_PAGES, DEFAULT_PER_HOUR, DEFAULT_PROJECTS, DEFAULT_SEED, EmulatorConfig};

/// Serves the emulator on `addr` until a signal. Prints its URL to standard output. `has_code_host`: the same address is an emulated code host, whose
/// token is the key.
pub async fn emulator(
    addr: SocketAddr,
    config: EmulatorConfig,
    has_code_host: bool,
    signals: StopSignals,
) -> anyhow::Result<()> {
    let stop = stop_on(signals);
    let listener = listen::bind(addr).await?;
    let key = config.key.clone();
    let address = format!("http://{}", listener.local_addr()?);
    let code_host = has_code_host.then(|| CodeHostConfig { address, token: key.clone() });
    let config = EmulatorConfig { code_host, ..config };
    let emulator = Emulator::new(config, Clock::system());
    let address = listener.local_addr()?;
    // The server does not wait for the reader of the output.
    thread::spawn(move || print_ready(address, &key));
    listen::serve(listener, emulator.service(), listen::Connections::unlimited(), stop).await;
    Ok(())
}

/// Serves an emulator until `stop`.
pub(super) fn in_background(emulator: &Emulator, listener: TcpListener, stop: CancellationToken) {
    tokio::spawn(listen::serve(listener, emulator.service(), listen::Connections::unlimited(), stop));
}

fn print_ready(address: SocketAddr, key: &str) {
    print_line(&format!(
        "The emulator answers.\n\n  Base address  http://{address}\n  Key           {key}\n"
    ));
}
