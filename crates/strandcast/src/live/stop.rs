//! Asking a stream to end.

use tokio::sync::watch;

/// Turns true when the application wants the end.
pub(in crate::live) type Stop = watch::Receiver<bool>;

/// Waits until the application wants the end.
pub(in crate::live) async fn stopped(stop: &mut Stop) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}
