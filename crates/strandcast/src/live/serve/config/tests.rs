//! Configurations that are read, and those that are not: each has one line with its place and its remedy.

use super::*;

fn parse(text: &str) -> Result<Config, Error> {
    Config::parse(text, "serve.toml", &std::env::temp_dir())
}

/// A stream that is complete, and the text before and inside it.
fn with(top: &str, stream: &str) -> String {
    let rest = ["senders", "outputs"].map(|key| match (stream.contains(key), key) {
        (true, _) => "",
        (false, "senders") => "senders = [\"van1\"]\n",
        (false, _) => "outputs = [\"udp://127.0.0.1:5004\"]\n",
    });
    format!("{top}\n[streams.van1]\n{stream}\n{}", rest.concat())
}

#[test]
fn a_stream_has_the_defaults_and_its_own_keys() {
    let text = r#"
listen = ["127.0.0.1:9000"]
memory_mib = 1024
max_streams = 20

[defaults]
latency_ms = 1500
outputs = ["{stream}-{time}.ts", "/dev/null"]

[streams.van1]
senders = ["van1", "sck1-"]
"#;
    let key = crate::pairing::key_text(&crate::pairing::PublicKey([7; 32]));
    let text = text.replace("sck1-", &key);
    let second = "\n[streams.van-2]\nsenders = [\"van2\"]\nlatency_ms = 300\nsilence_s = 10.5\noutputs = [\"srt://:7002?latency=200\"]\n";
    let config = parse(&format!("{text}{second}")).expect("it is complete");
    assert_eq!(config.listen, ["127.0.0.1:9000".parse().expect("an address")]);
    assert_eq!(config.memory, Memory::new(1 << 30).expect("enough"));
    let names: Vec<&str> = config.streams.keys().map(String::as_str).collect();
    assert_eq!(names, ["van-2", "van1"]);
    let (first, second) = (&config.streams["van1"], &config.streams["van-2"]);
    assert_eq!(first.senders, ["van1".to_owned(), key]);
    assert_eq!((first.latency, first.silence), (Some(Duration::from_millis(1500)), Duration::from_secs(65)));
    let recording = std::env::temp_dir().join("van1-%Y%m%d-%H%M%S.ts");
    assert_eq!(first.outputs, [Place::Recordings(recording), Place::Device("/dev/null".into())]);
    assert_eq!(
        (second.latency, second.silence),
        (Some(Duration::from_millis(300)), Duration::from_millis(10_500))
    );
    assert!(matches!(&second.outputs[..], [Place::Srt(url)] if url.port == 7002));
    assert_eq!(
        parse(&with("", "")).expect("it is complete").listen,
        ["[::]:9899".parse().expect("an address")]
    );
}

#[test]
fn each_mistake_has_one_line_with_its_place_and_its_remedy() {
    let stream = |inside: &str| with("", inside);
    let top = |before: &str| with(before, "");
    let many: String = (0..17)
        .map(|n| format!("[streams.v{n:02}]\nsenders = [\"v\"]\noutputs = [\"udp://h:{}\"]\n", 5000 + n))
        .collect();
    for (text, place, words) in [
        (String::new(), "serve.toml:", "add [streams.NAME] with senders and outputs"),
        ("[streams.van1".to_owned(), "serve.toml:1:", ""),
        ("[streams.van1]\n".to_owned(), "serve.toml:1:", "no senders: write senders = [\"NAME\"]"),
        (stream("outputs = []"), "serve.toml:2:", "has no outputs: write outputs = ["),
        (stream("senders = []"), "serve.toml:2:", "has no senders"),
        (stream("senders = [\"a\", \"a\"]"), "serve.toml:3: senders:", "given twice"),
        (stream("senders = [\"a b\"]"), "serve.toml:3: senders:", "letters, digits"),
        (stream("senders = [\"sck1-abc\"]"), "serve.toml:3: senders:", "cut short"),
        (stream("senders = \"van1\""), "serve.toml:3: senders:", "expected a sequence"),
        (stream("latncy_ms = 5"), "serve.toml:3: latncy_ms:", "did you mean latency_ms?"),
        (stream("latency_ms = 5"), "serve.toml:3: latency_ms:", "from 20 to 60000 milliseconds"),
        (stream("latency_ms = \"1 s\""), "serve.toml:3: latency_ms:", "expected u32"),
        (stream("latency_ms = -1"), "serve.toml:3: latency_ms:", "-1"),
        (stream("silence_s = 0.1"), "serve.toml:3: silence_s:", "from 1 to 3600 seconds"),
        (stream("silence_s = nan"), "serve.toml:3: silence_s:", "from 1 to 3600 seconds"),
        (stream("slate = \"\""), "serve.toml:3: slate:", "a slate is \"null\", or the path of a clip"),
        (
            stream("slate = \"/no/clip.ts\""),
            "serve.toml:3: slate:",
            "/no/clip.ts cannot be a slate: no such file",
        ),
        (
            stream("slate = \"/dev/null\""),
            "serve.toml:3: slate:",
            "/dev/null cannot be a slate: it is not a file",
        ),
        (stream("slate_after_ms = 500"), "serve.toml:3: slate_after_ms:", "add slate = \"null\""),
        (
            stream("slate = \"null\"\nslate_after_ms = 100"),
            "serve.toml:4: slate_after_ms:",
            "from 200 to 60000 milliseconds",
        ),
        (top("listen = [\"9899\"]"), "serve.toml:1: listen:", "write \"[::]:9899\""),
        (top("listen = []"), "serve.toml:", "listen is empty"),
        (top("port = 9899"), "serve.toml:1: port:", "there is no key port here"),
        (top("memory_mib = 100"), "serve.toml:1: memory_mib:", "set memory_mib = 256"),
        (top("max_streams = 40"), "serve.toml:1: max_streams:", "set memory_mib = 640"),
        (top("max_streams = 0"), "serve.toml:1: max_streams:", "from 1 to 256"),
        (many, "serve.toml:49:", "set max_streams = 17"),
        ("[streams.\"../x\"]\n".to_owned(), "serve.toml:1:", "letters, digits"),
        ("[streams.\"a\\nb\"]\n".to_owned(), "serve.toml:1:", "letters, digits"),
        ("[streams.\"\"]\n".to_owned(), "serve.toml:1:", "1 to 32 characters"),
        (format!("{}[streams.van1]\n", with("", "")), "serve.toml:", "duplicate key"),
        (
            format!("{}[streams.w]\nsenders = [\"w\"]\noutputs = [\"udp://127.0.0.1:5004\"]\n", with("", "")),
            "serve.toml:8: outputs:",
            "is used also by",
        ),
    ] {
        fails(&text, place, words);
    }
}

/// The text is refused with a line that begins with a place and has the words.
fn fails(text: &str, place: &str, words: &str) {
    let line = parse(text).expect_err(text).to_string();
    assert!(line.starts_with(place) && line.contains(words) && !line.contains('\n'), "{text}\n{line}");
}

#[test]
fn each_mistake_in_an_output_has_one_line_with_its_remedy() {
    let stream = |inside: &str| with("", inside);
    for (text, place, words) in [
        (
            stream("outputs = [\"rtmp://h/x\"]"),
            "serve.toml:3: outputs:",
            "expected a path, udp://, rtp:// or srt://",
        ),
        (stream("outputs = [\"udp://h\"]"), "serve.toml:3: outputs:", "needs a port"),
        (stream("outputs = [\"srt://:1?mode=rendezvous\"]"), "serve.toml:3: outputs:", "mode"),
        (stream("outputs = [\"udp://h:1?{time}\"]"), "serve.toml:3: outputs:", "has no {time}"),
        (stream("outputs = [\"-\"]"), "serve.toml:3: outputs:", "name a pipe"),
        (stream("outputs = [\"\"]"), "serve.toml:3: outputs:", "needs a path"),
        (stream("outputs = [\"a.ts\"]"), "serve.toml:3: outputs:", "add {time} to the name"),
        (stream("outputs = [\"{stream}.ts\"]"), "serve.toml:3: outputs:", "add {time} to the name"),
        (
            stream("outputs = [\"{sender}-{time}.ts\"]"),
            "serve.toml:3: outputs:",
            "{stream} and {time} are the fields",
        ),
        (stream("outputs = [\"/no/such/{time}.ts\"]"), "serve.toml:3: outputs:", "no such folder"),
        (stream("outputs = [\"/tmp\"]"), "serve.toml:3: outputs:", "is a folder: add the name of a file"),
        (
            stream("outputs = [\"srt://:1\", \"srt://127.0.0.1:1?mode=listener\"]"),
            "serve.toml:3: outputs:",
            "used twice",
        ),
    ] {
        fails(&text, place, words);
    }
}

#[test]
fn a_file_that_is_none_is_named() {
    for (path, words) in [
        ("/no/such/file.toml", "cannot read /no/such/file.toml: no such file or directory"),
        ("/tmp", "/tmp is a folder: name a file in it"),
    ] {
        assert_eq!(Config::read(Path::new(path)).expect_err(path).to_string(), words);
    }
}

#[test]
fn a_running_server_refuses_what_it_cannot_change() {
    let before = parse(&with("", "")).expect("it is complete");
    for (top, key) in [
        ("listen = [\"127.0.0.1:1\"]", "listen"),
        ("key = \"other\"", "key"),
        ("scheme = \"bond\"", "scheme"),
        ("memory_mib = 600", "memory_mib"),
        ("max_streams = 17", "max_streams"),
    ] {
        let after = parse(&with(top, "")).expect("it is complete");
        let line = before.refuse_fixed(&after).expect_err(key).to_string();
        assert!(line.starts_with(&format!("{key} cannot change")), "{line}");
    }
    let latency = parse(&with("", "latency_ms = 300")).expect("it is complete");
    assert!(before.refuse_fixed(&latency).is_ok());
}

#[test]
fn an_api_has_a_place_that_other_machines_reach_with_tls_and_a_token_alone() {
    let api = |lines: &str| parse(&with(&format!("[api]\n{lines}"), ""));
    let both =
        api("socket = \"a.sock\"\nlisten = \"[::1]:80\"\ncontrol_tokens = \"/c\"").expect("it is right");
    let both = both.api.expect("it is there");
    assert_eq!(both.socket, Some(std::env::temp_dir().join("a.sock")));
    assert_eq!(both.listen, Some("[::1]:80".parse().expect("an address")));
    assert_eq!((both.view_tokens, both.control_tokens), (None, Some("/c".into())));
    assert_eq!(parse(&with("", "")).expect("it is complete").api, None);
    for (lines, line) in [
        ("", "serve.toml:1: [api] has no place: add socket = \"PATH\" or listen = \"127.0.0.1:PORT\" to it"),
        (
            "listen = \"8890\"",
            "serve.toml:2: listen: 8890 is no address and port: write \"127.0.0.1:8890\", or with another port",
        ),
        (
            "listen = \"192.0.2.1:80\"",
            "serve.toml:2: listen: 192.0.2.1:80 can be reached from other machines, and HTTP is not encrypted: add \
             certificate and certificate_key to [api], or write \"127.0.0.1:80\" instead",
        ),
        (
            "listen = \"[::]:80\"\ncertificate = \"a\"\ncertificate_key = \"b\"",
            "serve.toml:2: listen: [::]:80 can be reached from other machines: add view_tokens or control_tokens to \
             [api], or write \"127.0.0.1:80\" instead",
        ),
        (
            "listen = \"[::1]:80\"\ncertificate = \"a\"",
            "serve.toml:3: certificate: add certificate_key = \"FILE\" to [api]",
        ),
        (
            "socket = \"s\"\ncertificate = \"a\"\ncertificate_key = \"b\"",
            "serve.toml:3: certificate: it is for listen, which [api] does not have",
        ),
    ] {
        assert_eq!(api(lines), Err(Error::Usage(line.to_owned())), "{lines}");
    }
    let open = "listen = \"0.0.0.0:80\"\ncertificate = \"a\"\ncertificate_key = \"b\"\nview_tokens = \"c\"";
    let open = api(open).expect("it has all").api.expect("it is there");
    assert_eq!(open.certificate_key, Some(std::env::temp_dir().join("b")));
    assert!(api("sockets = \"a\"").is_err_and(|error| error.to_string().contains("did you mean socket?")));
}

#[test]
fn streams_with_one_clip_have_it_once() {
    let clip = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../media/clip.ts");
    let defaults = format!("[defaults]\nslate = \"{}\"\nslate_after_ms = 700\n", clip.display());
    let own = "[streams.b]\nsenders = [\"b\"]\nslate = \"null\"\noutputs = [\"udp://127.0.0.1:5005\"]\n";
    let third =
        own.replace("streams.b", "streams.c").replace("5005", "5006").replace("slate = \"null\"\n", "");
    let config = parse(&format!("{}{own}{third}", with(&defaults, ""))).expect("it is complete");
    let slate = |name: &str| config.streams[name].slate.clone().expect("it has one");
    assert_eq!(slate("van1"), slate("c"));
    let mut null = Slate::null();
    null.after = Duration::from_millis(700);
    assert_eq!(slate("b"), null);
    assert_eq!(slate("van1").after, Duration::from_millis(700));
    let after = parse(&with(&defaults.replace("700", "800"), "")).expect("it is complete");
    assert!(!config.streams["van1"].only_admits_more(&after.streams["van1"]), "another slate is a change");
}
