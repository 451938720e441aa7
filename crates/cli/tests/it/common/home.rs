//! A user with a folder of its own for keys.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::{Ended, Running, command, file, spawn};

/// A user's home. Nothing of it is left at the end.
pub struct Home(PathBuf);

impl Home {
    pub fn new(name: &str) -> Home {
        let path = file(name);
        std::fs::create_dir_all(&path).unwrap();
        Home(path)
    }

    /// The home's folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The folder of the store.
    pub fn store(&self) -> PathBuf {
        self.0.join(".config/strandcast")
    }

    /// Starts a command of this user, with nothing to read.
    pub fn start(&self, args: &str) -> Running {
        spawn(self.command(args).stdin(Stdio::null()))
    }

    /// Runs a command of this user.
    pub fn run(&self, args: &str) -> Ended {
        self.start(args).end()
    }

    /// Runs a command that reads this text.
    pub fn reads(&self, args: &str, text: &str) -> Ended {
        let mut running = spawn(self.command(args).stdin(Stdio::piped()));
        // A command that ends without reading is what some tests are about.
        let _ = running.child.stdin.take().unwrap().write_all(text.as_bytes());
        running.end()
    }

    /// A pairing string of this user's receiver at `host`, with more options of `key pair`.
    pub fn pairing(&self, host: &str, options: &str) -> String {
        let out = self.0.join("pairing");
        let _ = std::fs::remove_file(&out);
        self.run(&format!("key pair --host {host} --out {} {options}", out.display())).succeeds();
        std::fs::read_to_string(out).unwrap().trim().to_owned()
    }

    /// The command of this user.
    pub fn command(&self, args: &str) -> std::process::Command {
        let mut command = command(args);
        command.env("HOME", &self.0).env_remove("XDG_CONFIG_HOME").env_remove("STRANDCAST_KEY");
        command
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A folder that stays harms no other test.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
