//! The API and the page of a program that embeds a receiver.

use std::sync::Arc;
use std::time::{Duration, Instant};

use strandcast::live::api::{Access, Api, Change, Client, ClientError, Shown, has_page};
use strandcast::live::lines::Lines;
use strandcast::live::serve::ApiConfig;
use strandcast::live::{Event, Role};

use crate::common::{Collect, receiver};

/// Runs a request of a client on another thread, because its calls block.
async fn asked<T: Send + 'static>(
    work: impl FnOnce(&Client) -> T + Send + 'static,
    client: &Arc<Client>,
) -> T {
    let client = Arc::clone(client);
    let work = tokio::task::spawn_blocking(move || work(&client));
    tokio::time::timeout(Duration::from_secs(10), work)
        .await
        .expect("within 10 s")
        .expect("it does not panic")
}

#[tokio::test]
async fn a_program_with_a_receiver_serves_the_api() {
    let socket = std::env::temp_dir().join(format!("sc-lib-{}.sock", std::process::id()));
    let mut config = ApiConfig::default();
    config.socket = Some(socket.clone());
    config.listen = Some("127.0.0.1:0".parse().expect("an address"));
    let (access, token) = Access::drawn(false).expect("the system has random numbers");
    let mut api = Api::start(&config, access, "program").expect("the places are free");
    assert_eq!(api.places().len(), 2);
    let page = api.page("live", &token).expect("there is an address");
    assert!(
        page.starts_with("http://127.0.0.1:") && page.ends_with(&format!("/#/live?token={token}")),
        "{page}"
    );

    let (receiver, _) = receiver(None, |config| config.watched = true, Collect::default());
    let receiver = Arc::new(receiver);
    let mut lines = Lines::new(Role::Receive, Instant::now());
    let line = lines.idle().named("live").value();
    api.show(vec![Shown::receiver("live", &receiver, Some(300), &line)], vec![line]);
    let local = Arc::new(Client::of(&socket.display().to_string(), None, None).expect("a path"));
    let stream = asked(|client| client.json("GET", "/v1/streams/live"), &local).await.expect("it is shown");
    assert_eq!((&stream["state"], &stream["latency_ms"]), (&"waiting".into(), &300.into()));
    let metrics = asked(|client| client.ask("GET", "/metrics").and_then(|all| Ok(all.text()?)), &local).await;
    assert!(metrics.expect("they are text").contains("strandcast_up{instance_name=\"program\""));

    let events = asked(|client| client.ask("GET", "/v1/events"), &local).await.expect("they begin");
    let Some(event @ Event::Listening { .. }) = receiver.event().await else { panic!("it listens") };
    api.events().send(&lines.event(&event, &event.to_string(), 0).text());
    let read = move |_: &Client| events.lines().map_while(Result::ok).find(|line| line.starts_with("data: "));
    let event = asked(read, &local).await.expect("an event");
    assert!(event.contains("\"event\":\"listening\""), "{event}");

    let client = Arc::clone(&local);
    let reload = tokio::task::spawn_blocking(move || client.json("POST", "/v1/reload"));
    let request = api.asked().await;
    assert!(matches!(request.change, Change::Reload));
    request.answer.send(Err("this program has no configuration".into()));
    let refused = reload.await.expect("it does not panic").expect_err("it is refused");
    assert_eq!(refused.to_string(), "this program has no configuration");

    let port = api.places().iter().find(|place| place.starts_with("http")).expect("the address").clone();
    let remote = Arc::new(Client::of(&port, None, None).expect("a URL"));
    let refused = asked(|client| client.json("GET", "/v1/streams"), &remote).await;
    assert!(matches!(refused, Err(ClientError::Token(_))), "{refused:?}");
    assert_eq!(asked(|client| client.ask("GET", "/").is_ok(), &remote).await, has_page());
    drop(api);
    assert!(!socket.exists());
}

#[tokio::test]
async fn an_address_of_other_machines_needs_a_certificate_and_a_token() {
    let mut config = ApiConfig::default();
    config.listen = Some("0.0.0.0:0".parse().expect("an address"));
    let (access, _) = Access::drawn(false).expect("the system has random numbers");
    for access in [access, Access::read(&config).expect("there is no file")] {
        let refused = Api::start(&config, access, "program").expect_err("it is refused").to_string();
        assert!(refused.contains("can be reached from other machines"), "{refused}");
    }
    config.certificate = Some("server.pem".into());
    let refused = Access::read(&config).expect_err("the key is missing").to_string();
    assert_eq!(refused, "a certificate needs its key, and a key its certificate");
}
