//! `docket emulator`: the emulator alone.

use std::net::SocketAddr;

use tokio_util::sync::CancellationToken;

use super::serve::stop_on_signal;
use crate::server::process::listen;
use docket_emulator::{Clock, Emulator};
pub use docket_emulator::{DEFAULT_PAGES, DEFAULT_PER_HOUR, DEFAULT_SEED, EmulatorConfig};

/// Serves the emulator on `addr` until a signal. Prints its URL to standard output.
pub async fn emulator(addr: SocketAddr, config: EmulatorConfig) -> anyhow::Result<()> {
    let listener = listen::bind(addr).await?;
    let key = config.key.clone();
    let emulator = Emulator::new(config, Clock::system());
    print_ready(listener.local_addr()?, &key);
    listen::serve(listener, emulator.service(), listen::Connections::unlimited(), stop_on_signal()).await;
    Ok(())
}

/// Serves an emulator on a free loopback port until `stop`, and returns its address.
pub(super) async fn in_background(
    emulator: &Emulator,
    stop: CancellationToken,
) -> anyhow::Result<SocketAddr> {
    let listener = listen::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    let address = listener.local_addr()?;
    tokio::spawn(listen::serve(listener, emulator.service(), listen::Connections::unlimited(), stop));
    Ok(address)
}

#[expect(clippy::print_stdout, reason = "the command's purpose is this output")]
fn print_ready(address: SocketAddr, key: &str) {
    println!("The emulator answers.\n\n  Base address  http://{address}\n  Key           {key}\n");
}
