//! The user interface. Must not use `server`: pages get their data from the server functions in `api`.

pub mod charts;
pub mod clock;
pub mod components;
#[cfg(feature = "ssr")]
pub mod document;
pub mod islands;
pub mod locale;
#[cfg(feature = "ssr")]
pub mod look;
#[cfg(feature = "ssr")]
pub mod pages;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    /// The modules that the files of a folder must not use.
    const FORBIDDEN: [(&str, &[&str]); 4] = [
        ("src/ui", &["crate::server"]),
        ("src/ui/charts", &["crate::ui::components", "crate::ui::islands", "crate::ui::pages", "crate::api"]),
        ("src/ui/components", &["crate::ui::islands", "crate::ui::pages"]),
        ("src/ui/islands", &["crate::ui::pages"]),
    ];

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        entries
            .flat_map(|entry| {
                let path = entry.unwrap_or_else(|error| panic!("{error}")).path();
                if path.is_dir() { files(&path) } else { vec![path] }
            })
            .collect()
    }

    #[test]
    fn each_layer_uses_only_the_layers_below_it() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for (folder, forbidden) in FORBIDDEN {
            let files = files(&root.join(folder));
            assert!(files.len() > 5, "{folder}");
            for file in files {
                let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}"));
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                for line in code {
                    let named = forbidden.iter().find(|module| line.contains(**module));
                    assert!(named.is_none(), "{}: {line}", file.display());
                }
            }
        }
    }
}
