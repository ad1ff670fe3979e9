//! An upstream behind TLS whose certificate authority only the test trusts, and a proxy in front of it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

use super::raw::read_request;

/// Responds to every request with the same job, and records the requests.
pub(crate) struct TlsUpstream {
    address: SocketAddr,
    /// The authority's certificate, as PEM.
    pub(crate) authority: String,
    requests: Arc<Mutex<Vec<String>>>,
}

/// A proxy for tunnels (`CONNECT`), which records every byte from the client.
pub(crate) struct Proxy {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl TlsUpstream {
    pub(crate) fn start(job: &Value) -> Self {
        let (config, authority) = certified();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (body, heard) = (job.to_string(), Arc::clone(&requests));
        let head = "HTTP/1.1 201 Created\r\ncontent-type: application/json\r\n";
        let response = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let connection = ServerConnection::new(config.clone()).unwrap();
                let mut stream = StreamOwned::new(connection, stream.unwrap());
                let (response, heard) = (response.clone(), heard.clone());
                thread::spawn(move || {
                    while let Some(request) = read_request(&mut stream) {
                        heard.lock().unwrap().push(String::from_utf8(request).unwrap());
                        stream.write_all(response.as_bytes()).unwrap();
                    }
                });
            }
        });
        Self { address, authority, requests }
    }

    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The received requests, each with its head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Proxy {
    /// Accepts every tunnel.
    pub(crate) fn start() -> Self {
        Self::answering("200 OK")
    }

    /// Responds to every request with this status, and opens a tunnel if it is a success.
    pub(crate) fn answering(status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heard: Arc<Mutex<Vec<u8>>> = Arc::default();
        let all = Arc::clone(&heard);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let heard = Arc::clone(&all);
                thread::spawn(move || tunnel(stream.unwrap(), status, &heard));
            }
        });
        Self { address, heard }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that the proxy received from Docket, as text where possible.
    pub(crate) fn heard(&self) -> String {
        String::from_utf8_lossy(&self.heard.lock().unwrap()).into_owned()
    }
}

/// A certificate for a name with its key, and that of its authority, as PEM.
pub(crate) struct Certificate {
    pub(crate) certificate: String,
    pub(crate) key: String,
    pub(crate) authority: String,
}

pub(crate) fn certificate(name: &str) -> Certificate {
    let (server, key, authority) = signed(name);
    Certificate { certificate: server.pem(), key: key.serialize_pem(), authority }
}

/// A certificate for `name`, its key, and the certificate of its authority.
fn signed(name: &str) -> (rcgen::Certificate, KeyPair, String) {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    // OpenSSL treats a certificate as self-signed if its issuer has the same name.
    authority.distinguished_name.push(DnType::CommonName, "authority of a test");
    let authority_key = KeyPair::generate().unwrap();
    let pem = authority.self_signed(&authority_key).unwrap().pem();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let server = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    (server, key, pem)
}

/// The TLS configuration of a server on 127.0.0.1, and the certificate of its authority.
/// It prefers HTTP/2, which it does not speak: the binary must not offer it.
fn certified() -> (Arc<ServerConfig>, String) {
    let (server, key, authority) = signed("127.0.0.1");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![server.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    (Arc::new(config), authority)
}

fn tunnel(mut near: TcpStream, status: &str, heard: &Mutex<Vec<u8>>) {
    let Some(head) = read_request(&mut near) else { return };
    heard.lock().unwrap().extend_from_slice(&head);
    near.write_all(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").as_bytes()).unwrap();
    if !status.starts_with('2') {
        return;
    }
    let head = String::from_utf8(head).unwrap();
    let mut far = TcpStream::connect(head.split_whitespace().nth(1).unwrap()).unwrap();
    let (mut back_from, mut back_to) = (far.try_clone().unwrap(), near.try_clone().unwrap());
    // Either side may close the connection at any time.
    thread::spawn(move || io::copy(&mut back_from, &mut back_to));
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = near.read(&mut buffer) {
        heard.lock().unwrap().extend_from_slice(&buffer[..read]);
        if far.write_all(&buffer[..read]).is_err() {
            return;
        }
    }
}
