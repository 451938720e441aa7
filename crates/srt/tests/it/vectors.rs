//! Key material and payloads that another implementation made: PBKDF2 of Python's `hashlib`, key wrap and counter mode
//! of OpenSSL by Python's `cryptography`.
//!
//! Passphrase `correct horse battery`; salt 30 31 … 3f; key number `i` of a size `n` is 0x11·i + n, of the odd key
//! 0x17·i + n + 5, modulo 256; packet number 0x1234567.

use strandcast_srt::{Direction, Event, KeySize};

use crate::common::*;

const TEXT: &str = "The quick brown fox jumps over the lazy dog, and then it rests for a while in the shade of an \
    old oak, which stands by a river that runs to the sea.";
const SEQ: u32 = 0x0123_4567;

struct Vector {
    bytes: usize,
    /// Key material with the even key, and with both.
    even: &'static str,
    both: &'static str,
    /// The text under each key.
    under_even: &'static str,
    under_odd: &'static str,
}

const VECTORS: [Vector; 3] = [
    Vector {
        bytes: 16,
        even: concat!(
            "12202901000000000200020000000404303132333435363738393a3b3c3d3e3ff018a0adbe492447",
            "1ae4647aec504c152fe870cc814e2f39",
        ),
        both: concat!(
            "12202903000000000200020000000404303132333435363738393a3b3c3d3e3f921c58e7542b322e",
            "6b75332643496fdc544fa40686056f60c65506d8f9055620df42457cd5c854d7",
        ),
        under_even: concat!(
            "5f6ce913187a1245a49de1badd2e9cb0368620288070757f05ad9975bfd1888e64205c823482882e",
            "4f8d85c2f4791500730554d4e90574557805cb4aadae44255c9f0b8195124af449a2ebe39b755786",
            "b3c76ce15136dee9acafb01fb60e47bed97799f07100fcca9aec134f120ae63b2d1ceb7dd158b485",
            "95b600f04ec53aaabd9459b0aad4ad39e2da51591304d55194187a65",
        ),
        under_odd: concat!(
            "a0d0a5f88a920c7889b3b3f08d2bbe11be91bbd6cb380fed8a7a8fa1ee05481a1797f5fe0af2259d",
            "686c351ababd186143ac8f7ac64b55f235a0326dadc8a3b5a6b5032e660eba5b244f52fdbb763197",
            "c61b24037c6acf9509b86b3a164e652363173b47b7e6e088ff92001eae835ecec766e2b2021e45f5",
            "c9d517f6fd621738ec44cf5692eceed0ae8c984eff8e01bea27b7e9e",
        ),
    },
    Vector {
        bytes: 24,
        even: concat!(
            "12202901000000000200020000000406303132333435363738393a3b3c3d3e3fb79147ccad78edf5",
            "7fb99cc3297a5e462b42f072f8aacd9679c69fa4b842be2e",
        ),
        both: concat!(
            "12202903000000000200020000000406303132333435363738393a3b3c3d3e3fc6fa169e82ce79cb",
            "8d0798bae4e6a2f51bc1e2d0b91213dd1d06b98307e5d0895c3497fd7cd9923f4d74661247dc699b",
            "c20a25882abb4c8b",
        ),
        under_even: concat!(
            "bf847e0782a43649c1eecf07dcac4fcff937ba28b8bf2c6d0daeea7e9168c86ccbf71d1eca04328f",
            "fc32c809524b12e150f63b48e4435e1acfbb328fb7435281706d6ac74e7a5bfed1889b0d1b687e7f",
            "035b0f9b0dde18c59b57915008228637bf42efdf938e38e29a7608aa6afe8d4d594004d4b1eb19c9",
            "72693aef1fffcf8f0f0db7b569d96cf394887b03647a1c1ca66fa215",
        ),
        under_odd: concat!(
            "c1f2600c859c40ed7e02bc4d029baf8ef8af7c8eef061107cb22f9a1d80a430f295aa22eea4f6f76",
            "b82a16e7b5ba9a1a07e180b4dd9fa2ad40cff7efbd0d111c07361e34d8db3e025ac5c0f52a3f0810",
            "df41ab20442d815b4a88cd27eb7aa4cfe7b7cf7ab0a6e9345f25971e5808a09e3d3f359be7865974",
            "f4da2a9651617dd448922745b37b81f5c9553639cafc7f1e52677106",
        ),
    },
    Vector {
        bytes: 32,
        even: concat!(
            "12202901000000000200020000000408303132333435363738393a3b3c3d3e3f11fdbc7ed859d401",
            "87e7c02710a6272aebfde57b68ee59a35088c0b2c021b46761dd813cf91e069a",
        ),
        both: concat!(
            "12202903000000000200020000000408303132333435363738393a3b3c3d3e3f692414877cff7085",
            "826aa63dd72a4f8b04a93448d016d9b99de42a9d71fdfc18548409b154370dfdfc50b502b53b32a3",
            "9f7bf0fcd4e30a306afbce9be37b211080faece37bae56e8",
        ),
        under_even: concat!(
            "9056bd9d3e032ed7a8b0406b4c0ecba33d7fbd835919e3799955f48c994ec7082bc6f7fb1bbf2c29",
            "3bec415e719c43d6432c541640d84902af2382552de30074ac1458901a780bb90d6280d096de3008",
            "fefe13ff3ea198dfc84977e4dec7e9b13a4bd42c771352e33820924e003f335215f357597b29fcac",
            "d1bf18eb5ac873e8cf4b97095fdacd2dd8908aff6827695a57a93a15",
        ),
        under_odd: concat!(
            "598ed817a948d06eee2728ba9358b462f830c99c69b014aa17cc3a6bcc3ad8da0768a2a02e322d97",
            "2a8d6a41366e2443681bd31145e3d9cf0b1de5c42d69648222a00b71529f0384f4ffd35931eb626e",
            "693f3c893c1522489c2743d8160e9c782b4b049d69099d0a60204e542110bacb01158fb526e6b474",
            "e6ad95d40c6fafad2f0f4e9dafce2c28891021bed4d0f78ae535937b",
        ),
    },
];

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// Key material with the even key of a size in bytes.
pub fn material(size: usize) -> Vec<u8> {
    bytes(VECTORS.iter().find(|v| v.bytes == size).unwrap().even)
}

/// A listener that accepted this key material, and its answer.
fn connected(material: &str) -> Scripted {
    Scripted::connect(encrypted(Direction::Receive), &[(3, bytes(material))])
}

const EVEN: u32 = 1 << 27;
const ODD: u32 = 2 << 27;

#[test]
fn payloads_under_keys_of_every_size_are_decrypted() {
    for vector in VECTORS {
        for (flag, payload) in [(EVEN, vector.under_even), (ODD, vector.under_odd)] {
            let mut peer = connected(vector.both);
            // The caller's first number is 100: the test moves on to the vector's.
            let packet = data_packet(SEQ, flag | 1, 10_000, peer.to, &bytes(payload));
            peer.handle(10, &packet);
            assert_eq!(peer.played(129), Vec::<Vec<u8>>::new());
            assert_eq!(peer.played(130), [TEXT.as_bytes()], "{} bytes", vector.bytes);
        }
    }
}

/// The draft: the responder returns the same message.
#[test]
fn accepted_key_material_comes_back() {
    for vector in VECTORS {
        let mut listener = strandcast_srt::Endpoint::listen(
            encrypted(Direction::Receive),
            &strandcast_proto::seeds::Seeds::new(1, 0),
        );
        let extensions = [(1, hs_message(LIVE, 120, 120)), (3, bytes(vector.even))];
        let hs = Hs { extension: 3, ..Hs::conclusion(CALLER_ID, 0) };
        let answers = conclude(&mut listener, at(0), CALLER, hs, &extensions);
        let expected = [&[0, 4, 0, (32 + 8 + vector.bytes) as u8 / 4], &bytes(vector.even)[..]].concat();
        assert_eq!(answers[0][80..], expected);
        let size = KeySize::from_bytes(vector.bytes);
        let event = listener.poll_event();
        assert!(matches!(event, Some(Event::Connected { key_size, .. }) if key_size == size), "{event:?}");
    }
}

/// The draft: with a key refresh the odd key is announced, the peer confirms by the same message, and packets of both
/// keys are decrypted.
#[test]
fn a_key_is_refreshed_by_a_control_packet() {
    for vector in VECTORS {
        let mut peer = connected(vector.even);
        let unknown = data_packet(SEQ, ODD | 1, 10_000, peer.to, &bytes(vector.under_odd));
        peer.handle(10, &unknown);
        assert_eq!(peer.listener.stats(peer.id).unwrap().undecryptable, 1);
        let announcement = control(0x7fff_0003, 0, 11_000, peer.to, &bytes(vector.both));
        peer.handle(11, &announcement);
        let answer = peer.until(11, 11).into_iter().map(|(_, p)| p).find(|p| word(p, 0) == 0xffff_0004);
        assert_eq!(answer.expect("an answer")[16..], bytes(vector.both));
        peer.handle(12, &unknown);
        let even = data_packet(SEQ + 1, EVEN | 2, 13_000, peer.to, b"under the even key");
        peer.handle(13, &even);
        assert_eq!(peer.played(200)[0], TEXT.as_bytes());
        assert_eq!(peer.listener.stats(peer.id).unwrap().received, 2);
    }
}

/// A clear packet on an encrypted connection, or one with both flags, is not media.
#[test]
fn packets_without_a_key_are_dropped() {
    let mut peer = connected(VECTORS[0].even);
    for flags in [0, EVEN | ODD] {
        peer.handle(10, &data_packet(100, flags | 1, 10_000, peer.to, b"forged"));
    }
    assert_eq!(peer.played(5000), Vec::<Vec<u8>>::new());
    assert_eq!(peer.listener.stats(peer.id).unwrap().undecryptable, 2);
}
