//! A network between a process and a database server, which a test can stall.

use std::path::PathBuf;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::watch;

/// The connection of one process to the server.
pub(crate) struct Network {
    url: String,
    flows: watch::Sender<bool>,
}

impl Network {
    /// A network to the database at `url`, whose server is reached by a socket.
    pub(crate) async fn to(url: &str) -> Self {
        let (folder, database) =
            url.strip_prefix("postgres://docket@").and_then(|place| place.split_once('/')).unwrap();
        let socket = PathBuf::from(folder.replace("%2F", "/")).join(".s.PGSQL.5432");
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (flows, flowing) = watch::channel(true);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (socket, flowing) = (socket.clone(), flowing.clone());
                tokio::spawn(async move {
                    let Ok(server) = UnixStream::connect(socket).await else { return };
                    let ((from_client, to_client), (from_server, to_server)) =
                        (client.into_split(), server.into_split());
                    tokio::select! {
                        () = carry(from_client, to_server, flowing.clone()) => {}
                        () = carry(from_server, to_client, flowing) => {}
                    }
                });
            }
        });
        Self { url: format!("postgres://docket@127.0.0.1:{port}/{database}?sslmode=disable"), flows }
    }

    /// The URL of the database through this network.
    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    /// Blocks all traffic without an error, or lets it through again.
    pub(crate) fn stall(&self, stalls: bool) {
        self.flows.send_replace(!stalls);
    }
}

async fn carry(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut flows: watch::Receiver<bool>,
) {
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let Ok(count @ 1..) = from.read(&mut bytes).await else { return };
        if flows.wait_for(|flows| *flows).await.is_err() || to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
