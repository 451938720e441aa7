//! Standard input.

use std::io;

use tokio::io::AsyncReadExt as _;

use super::source::Input;

/// Standard input. Standard input is a live input.
#[derive(Debug)]
pub struct Stdin(tokio::io::Stdin);

impl Stdin {
    /// Opens standard input of this process.
    pub fn open() -> Stdin {
        Stdin(tokio::io::stdin())
    }
}

impl Input for Stdin {
    fn name(&self) -> String {
        "standard input".to_owned()
    }

    fn waits(&self) -> bool {
        true
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).await
    }
}
