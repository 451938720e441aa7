//! Connections with a time limit for the peer: a peer that reads nothing for this time loses its connection.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// A connection. Writes of the connection fail once the peer has taken nothing for `patience`, although there is
/// something to write.
#[derive(Debug)]
pub(super) struct Patient<T> {
    inner: T,
    patience: Duration,
    /// Timer of a write that is waiting.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<T> Patient<T> {
    pub(super) fn new(inner: T, patience: Duration) -> Patient<T> {
        Patient { inner, patience, waits: None }
    }

    /// Returns the outcome of a write, or an error when the time limit has passed.
    fn timed<R>(&mut self, context: &mut Context<'_>, outcome: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if outcome.is_ready() {
            self.waits = None;
            return outcome;
        }
        let patience = self.patience;
        let timer = self.waits.get_or_insert_with(|| Box::pin(sleep(patience)));
        match timer.as_mut().poll(context) {
            Poll::Ready(()) => {
                timer.as_mut().reset(Instant::now() + patience);
                Poll::Ready(Err(ErrorKind::TimedOut.into()))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Patient<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Patient<T> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.inner).poll_write(context, bytes);
        this.timed(context, outcome)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.inner).poll_write_vectored(context, bytes);
        this.timed(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.inner).poll_flush(context);
        this.timed(context, outcome)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.inner).poll_shutdown(context);
        this.timed(context, outcome)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test]
    async fn a_peer_that_reads_is_waited_for_and_one_that_does_not_is_given_up() {
        let (near, mut far) = duplex(10);
        let mut patient = Patient::new(near, Duration::from_secs(60));
        let reads = tokio::spawn(async move {
            for _ in 0..6 {
                tokio::task::yield_now().await;
                far.read_exact(&mut [0; 10]).await.expect("it is written");
            }
            far
        });
        patient.write_all(&[7; 60]).await.expect("each piece is read");
        let _far = reads.await.expect("it ends");
        patient.patience = Duration::from_millis(50);
        let error = patient.write_all(&[7; 60]).await.expect_err("the peer does not read");
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
}
