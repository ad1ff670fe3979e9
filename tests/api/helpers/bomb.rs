//! A small compressed body that becomes very large.

use flate2::{Compression, FlushCompress};
use wiremock::ResponseTemplate;

/// One gibibyte after decompression.
const PIECES: usize = 1_024;
const PIECE: usize = 1_024 * 1_024;

/// A successful response of one gibibyte, compressed to about one mebibyte.
pub(crate) fn gzip_bomb() -> ResponseTemplate {
    // The header of RFC 1952. No client gets as far as the missing checksum.
    let mut bomb = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let piece = piece();
    for _ in 0..PIECES {
        bomb.extend_from_slice(&piece);
    }
    ResponseTemplate::new(200)
        .set_body_raw(bomb, "application/json")
        .insert_header("content-encoding", "gzip")
}

/// A mebibyte of spaces, compressed so that further pieces can follow it.
fn piece() -> Vec<u8> {
    let mut compress = flate2::Compress::new(Compression::best(), false);
    let mut piece = Vec::with_capacity(64 * 1_024);
    compress.compress_vec(&vec![b' '; PIECE], &mut piece, FlushCompress::Full).unwrap();
    assert_eq!(compress.total_in(), PIECE as u64);
    piece
}
