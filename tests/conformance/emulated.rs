//! The built-in emulator as the upstream under test: on a port, with a clock that can be moved.

use std::net::SocketAddr;

use base::clock::Clock;
use docket_emulator::{DEFAULT_PER_HOUR, DEFAULT_PROJECTS, DEFAULT_SEED, Emulator, EmulatorConfig};
use tokio_util::sync::CancellationToken;
use web::process::listen;

use crate::upstream::Upstream;

const KEY: &str = "mint_conformance";

pub(crate) async fn start() -> Upstream {
    let clock = Clock::frozen("2026-11-21T09:30:00Z".parse().unwrap());
    let config = EmulatorConfig {
        key: KEY.to_owned(),
        projects: DEFAULT_PROJECTS.to_owned(),
        pages: 300,
        per_hour: DEFAULT_PER_HOUR,
        seed: DEFAULT_SEED,
        code_host: None,
    };
    let emulator = {
        let clock = clock.clone();
        Emulator::new(config, docket_emulator::Clock::new(move || clock.now().as_millis()))
    };
    let listener = listen::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(listen::serve(
        listener,
        emulator.service(),
        listen::Connections::unlimited(),
        CancellationToken::new(),
    ));
    let mut upstream = Upstream::new(&format!("http://{address}"), KEY, "docs");
    upstream.writes = true;
    upstream.clock = Some(clock);
    upstream
}
