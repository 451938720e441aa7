//! AES in counter mode, with keys of three lengths (draft-sharabayko-srt, *AES Counter*).

use aes::cipher::{Block, BlockCipherDecrypt as _, BlockCipherEncrypt as _, KeyInit as _};
use aes::{Aes128, Aes192, Aes256};

use crate::config::MAX_PAYLOAD;
use crate::wire::SALT;

/// Number of key-stream blocks that are computed with one call, because a call costs as much as some blocks. The number
/// of blocks suffices for the largest payload.
const TOGETHER: usize = MAX_PAYLOAD.div_ceil(BLOCK);
const BLOCK: usize = 16;

/// AES with a key of one of three lengths.
pub(super) enum Cipher {
    Aes128(Aes128),
    Aes192(Aes192),
    Aes256(Aes256),
}

impl Cipher {
    /// Creates the cipher for a key of 16, 24 or 32 bytes.
    pub fn new(key: &[u8]) -> Cipher {
        let fits = "a key of this length";
        match key.len() {
            16 => Cipher::Aes128(Aes128::new_from_slice(key).expect(fits)),
            24 => Cipher::Aes192(Aes192::new_from_slice(key).expect(fits)),
            _ => Cipher::Aes256(Aes256::new_from_slice(key).expect(fits)),
        }
    }

    fn encrypt_blocks(&self, blocks: &mut [Block<Aes128>]) {
        match self {
            Cipher::Aes128(c) => c.encrypt_blocks(blocks),
            Cipher::Aes192(c) => c.encrypt_blocks(blocks),
            Cipher::Aes256(c) => c.encrypt_blocks(blocks),
        }
    }

    /// Encrypts one block.
    pub fn encrypt(&self, block: [u8; BLOCK]) -> [u8; BLOCK] {
        let mut blocks = [block.into()];
        self.encrypt_blocks(&mut blocks);
        blocks[0].into()
    }

    /// Decrypts one block.
    pub fn decrypt(&self, block: [u8; BLOCK]) -> [u8; BLOCK] {
        let mut block = block.into();
        match self {
            Cipher::Aes128(c) => c.decrypt_block(&mut block),
            Cipher::Aes192(c) => c.decrypt_block(&mut block),
            Cipher::Aes256(c) => c.decrypt_block(&mut block),
        }
        block.into()
    }

    /// Encrypts or decrypts the payload of a packet in place.
    pub fn apply(&self, salt: &[u8; SALT], seq: u32, payload: &mut [u8]) {
        let mut counter = [0; BLOCK];
        counter[10..14].copy_from_slice(&seq.to_be_bytes());
        for (byte, salt) in counter[..14].iter_mut().zip(salt) {
            *byte ^= salt;
        }
        for (nth, piece) in payload.chunks_mut(TOGETHER * BLOCK).enumerate() {
            let mut blocks = [Block::<Aes128>::from(counter); TOGETHER];
            let blocks = &mut blocks[..piece.len().div_ceil(BLOCK)];
            for (block, at) in blocks.iter_mut().zip(nth * TOGETHER..) {
                block[14..].copy_from_slice(&(at as u16).to_be_bytes());
            }
            self.encrypt_blocks(blocks);
            // Block by block, so that a block is one instruction.
            for (part, keys) in piece.chunks_mut(BLOCK).zip(blocks.iter()) {
                for (byte, key) in part.iter_mut().zip(keys) {
                    *byte ^= key;
                }
            }
        }
    }
}
