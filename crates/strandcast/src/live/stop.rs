//! Requests of an application to end a stream.

use tokio::sync::watch;

/// Value that becomes true when the application requests the end.
pub(in crate::live) type Stop = watch::Receiver<bool>;

/// Waits until the application requests the end.
pub(in crate::live) async fn stopped(stop: &mut Stop) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}
