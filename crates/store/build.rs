//! Makes cargo compile this crate again when a migration changed: it embeds them.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=migrations");
}
