//! `docket generate`: writes the manual pages and the shell completions of packages, derived from the command line.
//! Hidden, because only scripts/dist.sh uses it.

use std::fs;
use std::path::Path;

use anyhow::Context;
use clap::Command;
use clap_complete::Shell;

const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// Writes `man/docket*.1` and `completions/*` into `folder`.
pub fn generate(command: Command, folder: &Path) -> anyhow::Result<()> {
    let (man, completions) = (folder.join("man"), folder.join("completions"));
    for path in [&man, &completions] {
        fs::create_dir_all(path).with_context(|| format!("creating {}", path.display()))?;
    }
    let name = command.get_name().to_owned();
    for shell in SHELLS {
        clap_complete::generate_to(shell, &mut command.clone(), &name, &completions)
            .with_context(|| format!("writing the completions for {shell}"))?;
    }
    clap_mangen::generate_to(command, &man).context("writing the manual pages")
}
