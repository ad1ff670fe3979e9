//! Makes cargo rebuild the server when the built front end changed, if the binary embeds it.
//!
//! The front end must not depend on its own output. A debug server reads the site from the disk, unless the feature `embed` is on.

use std::{env, fs, io, path::Path};

const SITE: &str = "target/site";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_SSR").is_none() {
        return Ok(());
    }
    // The embedding macro fails without the folder. An empty site is embedded before the first build.
    fs::create_dir_all(Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join(SITE))?;
    if env::var("PROFILE").as_deref() == Ok("release") || env::var_os("CARGO_FEATURE_EMBED").is_some() {
        println!("cargo::rerun-if-changed={SITE}");
    }
    Ok(())
}
