//! `docket healthcheck`: asks the server on this machine whether it is up, for containers without other programs. Opens no database.
//!
//! It asks `/healthz`: what answers "no" to that is helped by a restart. `/readyz` also says no while the database of another machine
//! is down, or while the process stops; to end it then would only break off what it is sending.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, bail, ensure};

/// For the connection, and for the answer.
const DEADLINE: Duration = Duration::from_secs(3);

/// The longest answer that is read.
const ANSWER_MAX_BYTES: u64 = 16 * 1024;

/// Asks the server that listens at `configured`, with `ready` whether it is also ready for requests.
pub fn healthcheck(configured: SocketAddr, ready: bool) -> anyhow::Result<()> {
    ensure!(configured.port() != 0, "DOCKET_ADDR has port 0, so that nobody knows where the server listens");
    let address = on_this_machine(configured);
    let path = if ready { "/readyz" } else { "/healthz" };
    let answer = asked(address, path).with_context(|| format!("http://{address}{path} does not answer"))?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split_whitespace().nth(1).unwrap_or("nothing");
    let line = body.lines().next().unwrap_or_default();
    if status != "200" {
        bail!("http://{address}{path} answers {status}: {line}");
    }
    say(&format!("http://{address}{path}: {line}"));
    Ok(())
}

/// A server that listens on all addresses is asked at the one of this machine.
fn on_this_machine(configured: SocketAddr) -> SocketAddr {
    let ip: IpAddr = match configured.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, configured.port())
}

fn asked(address: SocketAddr, path: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, DEADLINE)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    stream.set_write_timeout(Some(DEADLINE))?;
    // In the older version an answer is not in chunks.
    write!(stream, "GET {path} HTTP/1.0\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(ANSWER_MAX_BYTES).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[expect(clippy::print_stdout, reason = "it is what the command is asked for")]
fn say(text: &str) {
    println!("{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_addresses_have_one_of_this_machine() {
        for (configured, asked) in [
            ("0.0.0.0:3000", "127.0.0.1:3000"),
            ("[::]:3000", "[::1]:3000"),
            ("10.1.2.3:80", "10.1.2.3:80"),
            ("[fd00::1]:80", "[fd00::1]:80"),
        ] {
            let address = configured.parse().expect("an address");
            assert_eq!(on_this_machine(address).to_string(), asked);
        }
    }
}
