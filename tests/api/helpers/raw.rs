//! An upstream below HTTP, which closes connections, stalls or sends invalid data exactly when a test requires it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tokio::net::TcpSocket;

/// What to do after receiving a request.
#[derive(Clone)]
pub(crate) enum Act {
    /// Send this and wait for the next request.
    Send(Vec<u8>),
    /// Send this and close the connection.
    HangUp(Vec<u8>),
    /// Send this, and nothing more until the client disconnects.
    Stall(Vec<u8>),
}

pub(crate) struct RawUpstream {
    address: SocketAddr,
    requests: Arc<AtomicUsize>,
    posts: Arc<AtomicUsize>,
}

impl RawUpstream {
    /// Handles the n-th request (from 0) according to `script`.
    pub(crate) fn start(script: impl Fn(usize) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let [requests, posts] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        let (counts, script) = ([requests.clone(), posts.clone()], Arc::new(script));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (counts, script) = (counts.clone(), script.clone());
                thread::spawn(move || converse(stream.unwrap(), &counts, &*script));
            }
        });
        Self { address, requests, posts }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The number of requests received completely.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// Those that send a prompt.
    pub(crate) fn posts(&self) -> usize {
        self.posts.load(Ordering::SeqCst)
    }
}

fn converse(mut stream: TcpStream, [requests, posts]: &[Arc<AtomicUsize>; 2], script: &dyn Fn(usize) -> Act) {
    while let Some(request) = read_request(&mut stream) {
        posts.fetch_add(usize::from(request.starts_with(b"POST ")), Ordering::SeqCst);
        match script(requests.fetch_add(1, Ordering::SeqCst)) {
            Act::Send(bytes) => stream.write_all(&bytes).unwrap(),
            Act::HangUp(bytes) => {
                stream.write_all(&bytes).unwrap();
                return;
            }
            Act::Stall(bytes) => {
                stream.write_all(&bytes).unwrap();
                // Ends when the client disconnects.
                let _ = stream.read(&mut [0]);
                return;
            }
        }
    }
}

/// A request with its head and body; `None` if the client disconnected.
pub(crate) fn read_request(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
            if request.len() >= end + 4 + length {
                return Some(request);
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(read) => request.extend_from_slice(&buffer[..read]),
        }
    }
}

/// An address that refuses connections, reserved while the socket exists.
pub(crate) fn refusing_address() -> (TcpSocket, String) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, format!("http://{address}"))
}

/// An address that never completes a handshake while the returned guard exists: the backlog of its listener, which
/// accepts nothing, is full.
pub(crate) fn black_hole() -> (impl Sized, String) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let waiting: Vec<TcpStream> =
        std::iter::from_fn(|| TcpStream::connect_timeout(&address, Duration::from_millis(100)).ok())
            .take(16)
            .collect();
    assert!(waiting.len() < 16, "the queue does not fill");
    ((listener, waiting), format!("http://{address}"))
}
