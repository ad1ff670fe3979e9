//! Sockets inherited from the service manager (`LISTEN_FDS`). They outlive the process, so connections wait in their
//! queues during a restart.

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
    /// The inherited sockets. Must be called once, before there are other threads, because it changes the environment.
    ///
    /// # Errors
    /// If one of them is no TCP socket, or its purpose is unclear.
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
            let slot = if name == METRICS { &mut sockets.metrics } else { &mut sockets.main };
            if slot.replace(socket).is_some() {
                bail!(
                    "the service manager listens on more sockets than Docket has uses for: one, and one with FileDescriptorName={METRICS}"
                );
            }
        }
        Ok(sockets)
    }
}
