//! `strandcast manual`: the files that packages install in addition to the command, made from its arguments.

use std::fs;
use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::aot::{Shell, generate};

use crate::args::{Args, ManualArgs};
use crate::error::{CliError, why};

/// Shells for which completions are made, and the path of each file below `/usr/share` on Debian.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions/strandcast"),
    (Shell::Zsh, "zsh/vendor-completions/_strandcast"),
    (Shell::Fish, "fish/vendor_completions.d/strandcast.fish"),
];

/// Writes manual pages of all subcommands, and completions, into a folder that stands for `/usr/share`.
///
/// # Errors
/// Returns [`CliError::Media`] if a file cannot be written.
pub(crate) fn run(args: &ManualArgs) -> Result<(), CliError> {
    for (path, content) in files().map_err(|e| CliError::Media(why(&e)))? {
        write(&args.folder.join(path), &content)?;
    }
    Ok(())
}

/// Returns the paths and contents of all files.
fn files() -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut command = Args::command();
    command.build();
    let mut files = Vec::new();
    pages(&command, &mut files)?;
    for (shell, path) in COMPLETIONS {
        let mut text = Vec::new();
        generate(shell, &mut Args::command(), "strandcast", &mut text);
        files.push((path.to_owned(), text));
    }
    Ok(files)
}

/// Adds the manual page of a command, and the pages of the subcommands that `--help` lists.
fn pages(command: &clap::Command, files: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    files.push((format!("man/man1/{}", page.get_filename()), text));
    command.get_subcommands().filter(|one| !one.is_hide_set()).try_for_each(|one| pages(one, files))
}

fn write(path: &Path, content: &[u8]) -> Result<(), CliError> {
    let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
    parent
        .and_then(|()| fs::write(path, content))
        .map_err(|error| CliError::Media(format!("cannot write {}: {}", path.display(), why(&error))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str) -> Option<String> {
        let path = format!("man/man1/{name}.1");
        let found = files().unwrap().into_iter().find(|(at, _)| *at == path)?;
        Some(String::from_utf8(found.1).unwrap())
    }

    #[test]
    fn each_subcommand_that_help_lists_has_a_page() {
        for name in ["strandcast", "strandcast-send", "strandcast-perf-client", "strandcast-key-pair"] {
            assert!(page(name).is_some(), "{name}");
        }
        assert!(page("strandcast-manual").is_none());
        let first = page("strandcast").unwrap();
        assert!(first.contains("strandcast\\-receive(1)"), "{first}");
        assert!(!first.contains("manual(1)"), "{first}");
    }

    #[test]
    fn a_page_has_the_options_of_its_subcommand() {
        let send = page("strandcast-send").unwrap();
        assert!(send.contains("\\-\\-latency") && send.contains("Exit codes"), "{send}");
    }

    #[test]
    fn completions_know_subcommands_and_options() {
        let files = files().unwrap();
        for (_, path) in COMPLETIONS {
            let (_, text) = files.iter().find(|(at, _)| at == path).unwrap();
            let text = String::from_utf8_lossy(text);
            assert!(text.contains("receive") && text.contains("latency"), "{path}");
        }
    }
}
