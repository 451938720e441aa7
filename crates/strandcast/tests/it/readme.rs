//! The code of the README, which compiles here.

#[expect(dead_code, unused_variables, reason = "its addresses are examples")]
mod code {
    use strandcast::pairing::{Destination, Gate, Pairing, Store};
    use strandcast::{Client, Scheme, SendOptions, Server};

    async fn receive() -> Result<(), Box<dyn std::error::Error>> {
        let studio = Store::at("studio/identity");
        let gate = Gate::open(&studio, None)?;
        let mut server =
            Server::new(Scheme::new("strand")?).listen("[::]:9899".parse()?).sealed(gate).start()?;
        println!("{}", *studio.pair(&["studio.example.org".parse()?], false, None)?);
        let connection = server.accept().await.ok_or("the server has ended")?;
        while let Some(message) = connection.recv().await { /* message.payload */ }
        Ok(())
    }

    async fn send(string: String) -> Result<(), Box<dyn std::error::Error>> {
        let to = Destination::paired(&Store::at("van/identity"), Pairing::decode(&string)?)?;
        let client = Client::new(Scheme::new("strand")?).path("if=wlan0".parse()?).path("if=wwan0".parse()?);
        let connection = client.connect_to(&to).await?;
        connection.send("hello".into(), SendOptions::default()).await?;
        connection.shutdown();
        connection.closed().await; // Shutdown: everything was delivered
        Ok(())
    }
}

/// The text without spaces and line ends.
fn packed(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn each_line_of_the_readme_compiles() {
    let readme = include_str!("../../README.md");
    let (_, code) = readme.split_once("```rust\n").expect("it has code");
    let (code, _) = code.split_once("```").expect("the code ends");
    let here = packed(include_str!("readme.rs"));
    let lines: Vec<&str> = code.lines().filter(|line| !line.is_empty() && !line.starts_with("//")).collect();
    assert!(lines.len() > 10, "{lines:?}");
    for line in lines {
        assert!(here.contains(&packed(line)), "{line}");
    }
}
