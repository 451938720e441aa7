use super::*;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

struct Vector {
    cipher: Cipher,
    key: &'static str,
    mask: &'static str,
    number: u64,
    header: &'static str,
    plaintext: &'static str,
    ciphertext: &'static str,
    tag: &'static str,
}

const GCM: Vector = Vector {
    cipher: Cipher::Aes128Gcm,
    key: "feffe9928665731c6d6a8f9467308308",
    mask: "cafebabefacedbaddecaf888",
    number: 0,
    header: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
    plaintext: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
                1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
    ciphertext: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e
                 21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
    tag: "5bc94fbc3221a5db94fae95ae7121a47",
};

const CHACHA: Vector = Vector {
    cipher: Cipher::ChaCha20Poly1305,
    key: "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
    mask: "070000004041424344454647",
    number: 0,
    header: "50515253c0c1c2c3c4c5c6c7",
    plaintext: "4c616469657320616e642047656e746c656d656e206f662074686520636c6173
                73206f66202739393a204966204920636f756c64206f6666657220796f75206f
                6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73
                637265656e20776f756c642062652069742e",
    ciphertext: "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6
                 3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36
                 92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc
                 3ff4def08e4b7a9de576d26586cec64b6116",
    tag: "1ae10b594f09e26a7e902ecbd0600691",
};

const QUIC_AES: Vector = Vector {
    cipher: Cipher::Aes128Gcm,
    key: "cf3a5331653c364c88f0f379b6067e37",
    mask: "0ac1493ca1905853b0bba03e",
    number: 1,
    header: "c1000000010008f067a5502a4262b50040750001",
    plaintext: "02000000000600405a020000560303eefce7f7b37ba1d1632e96677825ddf739
                88cfc79825df566dc5430b9a045a1200130100002e00330024001d00209d3c94
                0d89690b84d08a60993c144eca684d1081287c834d5311bcf32bb9da1a002b00
                020304",
    ciphertext: "5a482cd0991cd25b0aac406a5816b6394100f37a1c69797554780bb38cc5a99f
                 5ede4cf73c3ec2493a1839b3dbcba3f6ea46c5b7684df3548e7ddeb9c3bf9c73
                 cc3f3bded74b562bfb19fb84022f8ef4cdd93795d77d06edbb7aaf2f58891850
                 abbdca",
    tag: "3d20398c276456cbc42158407dd074ee",
};

const QUIC_CHACHA: Vector = Vector {
    cipher: Cipher::ChaCha20Poly1305,
    key: "c6d98ff3441c3fe1b2182094f69caa2ed4b716b65488960a7a984979fb23e1c8",
    mask: "e0459b3474bdd0e44a41c144",
    number: 654_360_564,
    header: "4200bff4",
    plaintext: "01",
    ciphertext: "65",
    tag: "5e5cd55c41f69080575d7999c25a5bfb",
};

fn check(vector: &Vector, source: &str) {
    let mask = bytes(vector.mask).try_into().expect("12 bytes");
    let key = Key::from_parts(vector.cipher, &bytes(vector.key), mask);
    let (header, plaintext) = (bytes(vector.header), bytes(vector.plaintext));
    let mut body = [plaintext.clone(), vec![0; TAG]].concat();
    assert!(key.seal(vector.number, &header, &mut body));
    assert_eq!(body, [bytes(vector.ciphertext), bytes(vector.tag)].concat(), "{source}");
    let sealed = body.clone();
    assert!(key.open(vector.number, &header, &mut body), "{source}");
    assert_eq!(body[..plaintext.len()], plaintext, "{source}");
    assert!(!key.open(vector.number + 1, &header, &mut sealed.clone()), "{source}: another number");
    assert!(!key.open(vector.number, &header[1..], &mut sealed.clone()), "{source}: another header");
    for at in 0..sealed.len() {
        let mut flipped = sealed.clone();
        flipped[at] ^= 1;
        assert!(!key.open(vector.number, &header, &mut flipped), "{source}: byte {at}");
    }
}

/// The mask equals the vector's nonce because the number is 0.
#[test]
fn ciphers_yield_what_their_specifications_list() {
    check(&GCM, "McGrew and Viega, The Galois/Counter Mode of Operation, test case 4");
    check(&CHACHA, "RFC 8439 §2.8.2");
}

#[test]
fn packet_numbers_are_laid_over_the_mask_as_in_quic() {
    check(&QUIC_AES, "RFC 9001 §A.3");
    check(&QUIC_CHACHA, "RFC 9001 §A.5");
}

#[test]
fn there_must_be_room_for_a_tag() {
    let key = Key::new(Cipher::Aes128Gcm, &Secret::new([1; 32]));
    for length in 0..TAG {
        let mut body = vec![5; length];
        assert!(!key.seal(0, &[], &mut body));
        assert_eq!(body, vec![5; length]);
        assert!(!key.open(0, &[], &mut body));
    }
}

#[test]
fn the_cipher_is_aes_where_both_have_it() {
    let (aes, chacha) = (Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305);
    let (only_aes, only_chacha, none) = (Ciphers::only(aes), Ciphers::only(chacha), Ciphers::from_byte(0xFC));
    assert_eq!(Ciphers::ALL.choose(Ciphers::ALL), Some(aes));
    assert_eq!(Ciphers::ALL.choose(only_chacha), Some(chacha));
    assert_eq!(only_aes.choose(Ciphers::ALL), Some(aes));
    assert_eq!(only_aes.choose(only_chacha), None);
    assert_eq!(Ciphers::ALL.choose(none), None);
    assert!(Ciphers::available().has(chacha));
}

/// ADR 17, *Wire*: 1 AES-128-GCM, 2 ChaCha20-Poly1305; unknown bits are reserved for later versions.
#[test]
fn ciphers_have_their_bytes() {
    for (cipher, byte) in [(Cipher::Aes128Gcm, 1), (Cipher::ChaCha20Poly1305, 2)] {
        assert_eq!((cipher.to_byte(), Cipher::from_byte(byte)), (byte, Some(cipher)));
        assert_eq!(Ciphers::only(cipher).to_byte(), byte);
    }
    for byte in [0, 3, 4, 255] {
        assert_eq!(Cipher::from_byte(byte), None);
    }
    assert_eq!(Ciphers::from_byte(0xFF), Ciphers::ALL);
}
