//! Sockets on which the service manager listens already (`LISTEN_FDS`): they outlive the process, so that connections wait in their
//! queues while one process follows another. Must not decide what is served on them.

use std::net::TcpListener;

use anyhow::{Context, bail};
use listenfd::ListenFd;

/// The name (`FileDescriptorName=`) of the socket for `/metrics` alone.
const METRICS: &str = "metrics";

#[derive(Default)]
pub struct Sockets {
    /// `None`: Docket binds its address itself.
    pub main: Option<TcpListener>,
    pub metrics: Option<TcpListener>,
}

impl Sockets {
    /// Those that were handed to this process. Must be called once, before there are other threads: it changes the environment.
    ///
    /// # Errors
    /// If one of them is no TCP socket, or if it is not clear what one is for.
    pub fn inherited() -> anyhow::Result<Self> {
        let names = std::env::var("LISTEN_FDNAMES").unwrap_or_default();
        let mut names = names.split(':');
        let mut given = ListenFd::from_env();
        let mut sockets = Self::default();
        for at in 0..given.len() {
            let name = names.next().unwrap_or_default();
            let socket = given
                .take_tcp_listener(at)
                .with_context(|| format!("socket {at} of the service manager ({name}) is not for TCP"))?
                .context("a socket of the service manager is there twice")?;
            socket.set_nonblocking(true).context("preparing a socket of the service manager")?;
            let place = if name == METRICS { &mut sockets.metrics } else { &mut sockets.main };
            if place.replace(socket).is_some() {
                bail!(
                    "the service manager listens on more sockets than Docket has uses for: one, and one with FileDescriptorName={METRICS}"
                );
            }
        }
        Ok(sockets)
    }
}
