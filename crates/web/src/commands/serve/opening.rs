//! Opens the database. If that takes long, because a migration processes many rows or a server does not respond, requests get a response meanwhile, and
//! the service manager waits.

use std::os::fd::AsFd;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::background;
use crate::http::starting_router;
use crate::process::{listen, service_manager};
use base::config::{AccessConfig, Database};
use store::Store;

/// Until this time, requests wait for the start. A restart takes less, and loses none.
const LONG: Duration = Duration::from_secs(10);

pub(super) async fn open(
    database: &Database,
    listener: &TcpListener,
    access: &AccessConfig,
) -> anyhow::Result<Store> {
    let opened = CancellationToken::new();
    // Also if this fails or is cancelled.
    let _ends = opened.clone().drop_guard();
    let meanwhile = async {
        tokio::time::sleep(LONG).await;
        if let Err(error) = respond(listener, access, opened.clone()) {
            tracing::warn!(error = format!("{error:#}"), "requests wait until the database is ready");
        }
        service_manager::extend_start().await
    };
    tokio::select! {
        biased;
        store = Store::open_within(&database.url, database.patience, database.copy) => Ok(store?),
        never = meanwhile => match never {},
    }
}

/// Responds to requests until `opened`. The socket remains open.
fn respond(listener: &TcpListener, access: &AccessConfig, opened: CancellationToken) -> anyhow::Result<()> {
    let address = listener.local_addr()?;
    let socket = listener.as_fd().try_clone_to_owned().context("the socket cannot be shared")?;
    let listener = TcpListener::from_std(socket.into())?;
    tracing::warn!(%address, "the database is not ready yet; requests get a page meanwhile");
    let limits = listen::Connections::limited_by(access);
    background(listen::serve(listener, starting_router(), limits, opened));
    Ok(())
}
