//! `docket healthcheck`: checks over HTTP whether the server on this machine is up, for containers without other
//! programs. Opens no database.
//!
//! It requests `/healthz`, whose failure means that a restart helps. `/readyz` also fails while a remote database is
//! down or the process is stopping. A restart then would only interrupt running deliveries.

use crate::commands::print_line;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, bail, ensure};

/// For the connection, and for the response.
const DEADLINE: Duration = Duration::from_secs(3);

/// The maximum size of a response.
const ANSWER_MAX_BYTES: u64 = 16 * 1024;

/// Checks the server that listens at `configured`; with `ready`, also whether it is ready for requests.
pub fn healthcheck(configured: SocketAddr, ready: bool) -> anyhow::Result<()> {
    ensure!(configured.port() != 0, "DOCKET_ADDR has port 0, so that nobody knows where the server listens");
    let address = on_this_machine(configured);
    let path = if ready { "/readyz" } else { "/healthz" };
    let response = fetch(address, path).with_context(|| format!("http://{address}{path} does not answer"))?;
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or((&response, ""));
    let status = head.split_whitespace().nth(1).unwrap_or("nothing");
    let line = body.lines().next().unwrap_or_default();
    if status != "200" {
        bail!("http://{address}{path} answers {status}: {line}");
    }
    print_line(&format!("http://{address}{path}: {line}"));
    Ok(())
}

/// A server that listens on all interfaces is reached over loopback.
fn on_this_machine(configured: SocketAddr) -> SocketAddr {
    let ip: IpAddr = match configured.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, configured.port())
}

fn fetch(address: SocketAddr, path: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, DEADLINE)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    stream.set_write_timeout(Some(DEADLINE))?;
    // HTTP/1.0 has no chunked responses.
    write!(stream, "GET {path} HTTP/1.0\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
    let mut response = Vec::new();
    stream.take(ANSWER_MAX_BYTES).read_to_end(&mut response)?;
    Ok(String::from_utf8_lossy(&response).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unspecified_address_becomes_loopback() {
        for (configured, expected) in [
            ("0.0.0.0:3000", "127.0.0.1:3000"),
            ("[::]:3000", "[::1]:3000"),
            ("10.1.2.3:80", "10.1.2.3:80"),
            ("[fd00::1]:80", "[fd00::1]:80"),
        ] {
            let address = configured.parse().expect("an address");
            assert_eq!(on_this_machine(address).to_string(), expected);
        }
    }
}
