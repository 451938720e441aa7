//! Responses without an end: events, and the media of a stream.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::body::Body;

/// Maximum number of pieces that wait for one connection. Further pieces wait in the queue that all clients share.
const PIECES: usize = 8;
/// Interval of comments, which show the client that the connection is alive.
const LIVES: Duration = Duration::from_secs(15);

/// Makes the response body for a client of events (server-sent events, HTML §9.2). A client that reads too slowly loses
/// events, and then receives the event `lost` with their number. At the end of the body `slot` is released.
pub(super) fn events(mut events: Receiver<Arc<str>>, slot: OwnedSemaphorePermit) -> Body {
    let (pieces, body) = mpsc::channel(PIECES);
    tokio::spawn(async move {
        let _slot = slot;
        let mut piece = Bytes::from_static(b"retry: 1000\n\n");
        while pieces.send(piece).await.is_ok() {
            piece = tokio::select! {
                event = events.recv() => match event {
                    Ok(line) => format!("data: {line}\n\n").into(),
                    Err(RecvError::Lagged(lost)) => format!("event: lost\ndata: {{\"event\":\"lost\",\"events\":{lost}}}\n\n").into(),
                    Err(RecvError::Closed) => return,
                },
                () = tokio::time::sleep(LIVES) => Bytes::from_static(b":\n\n"),
                () = pieces.closed() => return,
            };
        }
    });
    Body::Pieces(body)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::Pin;

    use hyper::body::Body as _;
    use tokio::sync::{Semaphore, broadcast};

    use super::*;

    async fn next(body: &mut Body) -> Option<String> {
        let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
        let bytes = frame.expect("it never fails").into_data().expect("data");
        Some(String::from_utf8(bytes.to_vec()).expect("text"))
    }

    #[tokio::test]
    async fn a_client_that_lags_loses_the_oldest_events_and_learns_how_many() {
        let (sender, receiver) = broadcast::channel::<Arc<str>>(16);
        let slots = Arc::new(Semaphore::new(1));
        let mut body = events(receiver, Arc::clone(&slots).try_acquire_owned().expect("it is free"));
        assert_eq!(next(&mut body).await.as_deref(), Some("retry: 1000\n\n"));
        for number in 0..100 {
            sender.send(number.to_string().into()).expect("there is a client");
        }
        assert_eq!(
            next(&mut body).await.as_deref(),
            Some("event: lost\ndata: {\"event\":\"lost\",\"events\":84}\n\n")
        );
        for number in 84..100 {
            assert_eq!(next(&mut body).await, Some(format!("data: {number}\n\n")));
        }
        drop(sender);
        assert_eq!(next(&mut body).await, None);
        assert_eq!(slots.available_permits(), 1);
    }

    #[tokio::test]
    async fn a_client_that_leaves_gives_its_place_back() {
        let (_sender, receiver) = broadcast::channel::<Arc<str>>(16);
        let slots = Arc::new(Semaphore::new(1));
        let body = events(receiver, Arc::clone(&slots).try_acquire_owned().expect("it is free"));
        assert_eq!(slots.available_permits(), 0);
        drop(body);
        drop(Arc::clone(&slots).acquire_owned().await.expect("it is given back"));
    }
}
