//! A network between a process and a database server. A test can stall it, and let it lose replies to `COMMIT`: the server has committed, and
//! the process sees a closed connection.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::watch;

/// The connection of one process to the server.
pub(crate) struct Network {
    url: String,
    flows: watch::Sender<bool>,
    losses: Arc<Losses>,
}

/// The replies to `COMMIT` that are lost.
#[derive(Default)]
struct Losses {
    /// One reply in this many is lost; 0 loses none.
    one_in: AtomicU64,
    count: AtomicU64,
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
        let losses = Arc::new(Losses::default());
        let lost = losses.clone();
        tokio::spawn(async move {
            let mut seed = u64::from(port);
            while let Ok((client, _)) = listener.accept().await {
                let (socket, flowing) = (socket.clone(), flowing.clone());
                seed += 1;
                let replies = Replies::new(seed, lost.clone());
                tokio::spawn(async move {
                    let Ok(server) = UnixStream::connect(socket).await else { return };
                    let ((from_client, to_client), (from_server, to_server)) =
                        (client.into_split(), server.into_split());
                    tokio::select! {
                        () = carry(from_client, to_server, flowing.clone(), None) => {}
                        () = carry(from_server, to_client, flowing, Some(replies)) => {}
                    }
                });
            }
        });
        Self { url: format!("postgres://docket@127.0.0.1:{port}/{database}?sslmode=disable"), flows, losses }
    }

    /// The URL of the database through this network.
    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    /// Loses one reply to `COMMIT` in this many, and closes its connection; 0 loses none.
    pub(crate) fn lose_commits(&self, one_in: u64) {
        self.losses.one_in.store(one_in, Ordering::SeqCst);
    }

    pub(crate) fn loses_commits(&self) -> bool {
        self.losses.one_in.load(Ordering::SeqCst) > 0
    }

    /// How many replies were lost.
    pub(crate) fn lost_commits(&self) -> u64 {
        self.losses.count.load(Ordering::SeqCst)
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
    mut replies: Option<Replies>,
) {
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let Ok(count @ 1..) = from.read(&mut bytes).await else { return };
        if flows.wait_for(|flows| *flows).await.is_err() {
            return;
        }
        let (passed, is_lost) = match &mut replies {
            Some(replies) => replies.pass(&bytes[..count]),
            None => (bytes[..count].to_vec(), false),
        };
        if to.write_all(&passed).await.is_err() || is_lost {
            return;
        }
    }
}

/// The messages of the server on one connection.
struct Replies {
    random: StdRng,
    losses: Arc<Losses>,
    /// The beginning of a message.
    rest: Vec<u8>,
}

impl Replies {
    fn new(seed: u64, losses: Arc<Losses>) -> Self {
        Self { random: StdRng::seed_from_u64(seed), losses, rest: Vec::new() }
    }

    /// The complete messages up to now, without those from a lost reply on; and whether there is one.
    fn pass(&mut self, bytes: &[u8]) -> (Vec<u8>, bool) {
        self.rest.extend_from_slice(bytes);
        let mut end = 0;
        loop {
            let rest = &self.rest[end..];
            let length = match rest {
                [_, a, b, c, d, ..] => 1 + u32::from_be_bytes([*a, *b, *c, *d]) as usize,
                _ => break,
            };
            if rest.len() < length {
                break;
            }
            if rest[0] == b'C' && rest[5..length].starts_with(b"COMMIT") && self.loses() {
                return (self.rest[..end].to_vec(), true);
            }
            end += length;
        }
        (self.rest.drain(..end).collect(), false)
    }

    fn loses(&mut self) -> bool {
        let one_in = self.losses.one_in.load(Ordering::SeqCst);
        let is_lost = one_in > 0 && self.random.random_range(0..one_in) == 0;
        self.losses.count.fetch_add(u64::from(is_lost), Ordering::SeqCst);
        is_lost
    }
}
