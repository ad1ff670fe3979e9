//! Makes cargo rebuild the server whenever a migration changed, and the release server whenever the built front end did, since
//! the binary carries both.
//!
//! The front end itself must not depend on its own output, and a debug server reads the site from the disk.

use std::{env, fs, io, path::Path};

const SITE: &str = "target/site";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_SSR").is_none() {
        return Ok(());
    }
    println!("cargo::rerun-if-changed=migrations");
    // The embedding macro refuses a folder that is not there: before the first build, an empty site is embedded.
    fs::create_dir_all(Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join(SITE))?;
    if env::var("PROFILE").as_deref() == Ok("release") {
        println!("cargo::rerun-if-changed={SITE}");
    }
    Ok(())
}
